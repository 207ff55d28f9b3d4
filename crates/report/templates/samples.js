// The samples of sources and channels, unpacked when they are first asked for (see src/samples).
//
// A series is a list of levels from fine to coarse. A level has lowest and highest values of buckets of `size` samples;
// values are in steps of the series: number = offset + step · value.

const MISSING = -32768;
const COARSER = 8;

const packedSamples = () => [...document.querySelectorAll("script.samples")];
const readData = (id) => JSON.parse(document.getElementById(id).textContent);

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Plane p of n values: all low bytes of their differences, then all high bytes.
function plane(bytes, p, n) {
  const values = new Int16Array(n), low = 2 * p * n, high = low + n;
  let value = 0;
  for (let i = 0; i < n; i++) values[i] = value = ((value + (bytes[low + i] | (bytes[high + i] << 8))) << 16) >> 16;
  return values;
}

const isMissing = (value) => value === MISSING || value !== value;

// Adds coarser levels until one fits a screen.
function withCoarser(level) {
  const levels = [level];
  for (let fine = level; fine.low.length > 4096; fine = levels[levels.length - 1]) {
    const n = Math.ceil(fine.low.length / COARSER), low = new fine.low.constructor(n), high = new fine.low.constructor(n);
    const nothing = low instanceof Float32Array ? NaN : MISSING;
    for (let i = 0; i < n; i++) {
      let least = Infinity, most = -Infinity;
      const end = Math.min((i + 1) * COARSER, fine.low.length);
      for (let j = i * COARSER; j < end; j++) {
        if (isMissing(fine.low[j])) continue;
        if (fine.low[j] < least) least = fine.low[j];
        if (fine.high[j] > most) most = fine.high[j];
      }
      low[i] = least <= most ? least : nothing;
      high[i] = least <= most ? most : nothing;
    }
    levels.push({ size: fine.size * COARSER, low, high });
  }
  return levels;
}

// Where most values of a level are: middle and half height, so that one outlier does not flatten a row.
function usualRange(level) {
  const some = [], stride = Math.max(1, Math.floor(level.low.length / 4000));
  for (let i = 0; i < level.low.length; i += stride) if (!isMissing(level.low[i])) some.push(level.low[i], level.high[i]);
  if (!some.length) return { middle: 0, half: 1 };
  some.sort((a, b) => a - b);
  const at = (share) => some[Math.round(share * (some.length - 1))], low = at(0.002), high = at(0.998);
  return { middle: (low + high) / 2, half: (high - low) / 2 || 1 };
}

class Samples {
  constructor(recording) {
    this.recording = recording;
    this.texts = packedSamples();
    this.series = [];
    this.pending = new Map();
    this.cleaned = new Map();
    this.failed = null;
  }

  // Series i, or undefined until `then` is called. A browser that cannot unpack says so in `failed`.
  get(i, then) {
    if (this.series[i] || this.failed) return this.series[i];
    if (!this.pending.has(i)) this.pending.set(i, this.unpack(i).catch((error) => { this.failed = String(error); }));
    if (then) this.pending.get(i).then(then);
    return undefined;
  }

  async unpack(i) {
    const { bucket, samples } = this.recording, points = Math.ceil(samples / bucket);
    const bytes = await inflated(bytesOf(this.texts[i].textContent)), low = plane(bytes, 0, points);
    const level = { size: bucket, low, high: bucket > 1 ? plane(bytes, 1, points) : low };
    const { offset, step, mean } = this.recording.series[i];
    const means = bucket > 1 ? plane(bytes, 2, points) : low;
    this.series[i] = { offset, step, mean, points: means, levels: withCoarser(level), ...usualRange(level) };
    this.pending.delete(i);
  }

  // Channel c less the rejected sources, in the steps of the channel; undefined until all of them are unpacked.
  without(c, rejected, then) {
    const key = rejected.join(), known = this.cleaned.get(c);
    if (known && known.key === key) return known.series;
    const { sources, mixing } = this.recording, channel = this.get(sources + c, then);
    const removed = rejected.map((k) => this.get(k, then));
    if (!channel || removed.some((source) => !source)) return undefined;
    const values = Float32Array.from(channel.points, (value) => (value === MISSING ? NaN : value));
    removed.forEach((source, n) => {
      const weight = mixing[c][rejected[n]] / (channel.step || 1), { points, step, offset, mean } = source;
      for (let t = 0; t < values.length; t++) {
        values[t] -= points[t] === MISSING ? NaN : weight * (offset + step * points[t] - mean);
      }
    });
    const level = { size: this.recording.bucket, low: values, high: values };
    const series = { ...channel, points: values, levels: withCoarser(level) };
    this.cleaned.set(c, { key, series });
    return series;
  }
}
