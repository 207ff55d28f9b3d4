// One row of the explorer: a series between two times, as lowest and highest value of every pixel or as single samples.

// The coarsest level that still has a bucket for every pixel.
function levelFor(series, samplesPerPixel) {
  let found = series.levels[0];
  for (const level of series.levels) if (level.size <= samplesPerPixel) found = level;
  return found;
}

// Draws samples view.from to view.to between the pixels left and right; y turns steps of the series into pixels.
function drawSeries(context, series, view, left, right, y) {
  const each = (view.to - view.from) / (right - left), level = levelFor(series, each), start = level.start || 0;
  context.beginPath();
  if (each < level.size && level.low !== level.high) drawStairs(context, level, view, left, each, y);
  else if (each < level.size) drawPoints(context, level, start, view, left, each, y);
  else drawColumns(context, level, start, view, left, right, each, y);
  context.stroke();
}

function drawPoints(context, level, start, view, left, each, y) {
  const { low, size } = level, x = (i) => left + (start + (i + 0.5) * size - 0.5 - view.from) / each;
  const first = Math.max(Math.floor((view.from - start) / size) - 1, 0);
  const last = Math.min(Math.ceil((view.to - start) / size) + 1, low.length - 1), dots = size === 1 && each < 1 / 7;
  for (let i = first, open = false; i <= last; i++) {
    if (isMissing(low[i])) { open = false; continue; }
    if (open) context.lineTo(x(i), y(low[i])); else context.moveTo(x(i), y(low[i]));
    open = true;
  }
  if (!dots) return;
  for (let i = first; i <= last; i++) {
    if (isMissing(low[i])) continue;
    context.moveTo(x(i) + 2, y(low[i]));
    context.arc(x(i), y(low[i]), 2, 0, 7);
  }
}

// Buckets that are wider than a pixel: a line at the highest value of each and one at the lowest, for what is between them
// is not known.
function drawStairs(context, level, view, left, each, y) {
  const { low, size } = level, first = Math.max(Math.floor(view.from / size), 0);
  const last = Math.min(Math.ceil(view.to / size), low.length - 1);
  const x = (sample) => left + (sample - view.from) / each;
  for (const values of [level.low, level.high]) for (let i = first, open = false; i <= last; i++) {
    if (isMissing(low[i])) { open = false; continue; }
    if (open) context.lineTo(x(i * size), y(values[i])); else context.moveTo(x(i * size), y(values[i]));
    context.lineTo(x((i + 1) * size), y(values[i]));
    open = true;
  }
}

function drawColumns(context, level, start, view, left, right, each, y) {
  const { low, high, size } = level, n = low.length;
  for (let px = 0, open = false; px < right - left; px++) {
    const bucket = (at) => Math.floor((view.from + at * each - start) / size), first = bucket(px);
    const end = Math.max(bucket(px + 1), first + 1);
    let least = Infinity, most = -Infinity;
    for (let i = Math.max(first, 0); i < end && i < n; i++) {
      if (isMissing(low[i])) continue;
      if (low[i] < least) least = low[i];
      if (high[i] > most) most = high[i];
    }
    if (least > most) { open = false; continue; }
    if (open) context.lineTo(left + px, y(most)); else context.moveTo(left + px, y(most));
    context.lineTo(left + px, y(least));
    open = true;
  }
}

// The value at a sample, from the finest level there is, or null.
function valueAt(series, sample) {
  const level = series.levels[0], i = Math.floor((sample - (level.start || 0)) / level.size);
  if (i < 0 || i >= level.low.length || isMissing(level.low[i])) return null;
  return series.offset + series.step * (level.low[i] + level.high[i]) / 2;
}

// sources.npy, opened by the reader: single samples of recordings that are too long for the page.
class SourceFile {
  static async open(file, recording) {
    const head = new Uint8Array(await file.slice(0, 4096).arrayBuffer()), words = new TextDecoder("latin1").decode(head);
    const length = head[8] | (head[9] << 8), header = words.slice(10, 10 + length);
    const shape = /'shape': \((\d+), (\d+)\)/.exec(header), expected = `${recording.samples} × ${recording.sources}`;
    const ours = head[0] === 0x93 && words.startsWith("NUMPY\x01", 1) && header.includes("'<f4'");
    if (!ours || !header.includes("'fortran_order': False") || !shape) {
      throw new Error(`${file.name}: expected sources.npy of this run, found another kind of file`);
    }
    const found = `${shape[1]} × ${shape[2]}`;
    if (found !== expected) throw new Error(`${file.name}: expected ${expected} numbers, found ${found}`);
    return new SourceFile(file, 10 + length, recording);
  }

  constructor(file, start, recording) { Object.assign(this, { file, start, recording, part: null, reading: false }); }

  // Source k around the view, or undefined until `then` is called.
  get(k, source, view, then) {
    const inside = this.part && this.part.from <= view.from && this.part.to >= Math.min(view.to, this.recording.samples);
    if (!inside) { this.read(view, then); return undefined; }
    const { from, to, numbers } = this.part, { sources } = this.recording, values = new Float32Array(to - from);
    for (let t = 0; t < values.length; t++) values[t] = (numbers[t * sources + k] - source.offset) / (source.step || 1);
    return { ...source, levels: [{ size: 1, start: from, low: values, high: values }] };
  }

  async read(view, then) {
    if (this.reading) return;
    this.reading = true;
    const { sources, samples } = this.recording, span = view.to - view.from;
    const from = Math.max(Math.floor(view.from - span), 0), to = Math.min(Math.ceil(view.to + span), samples), row = 4 * sources;
    const bytes = await this.file.slice(this.start + from * row, this.start + to * row).arrayBuffer();
    this.part = { from, to, numbers: new Float32Array(bytes) };
    this.reading = false;
    then();
  }
}
