// The explorer: rows of sources and channels over the whole recording, moved and zoomed by mouse, touch and keyboard.

const ROW = 56, AXIS = 24, FEWEST = 10;
// Pixels that an event needs for a line through all rows, and those of its mark where there are fewer.
const EVENT = 24, MARK = 24;
// Pixels for the names of rows: less on a telephone.
const namesWide = () => (innerWidth < 600 ? 56 : 92);

class Explorer {
  constructor(recording, samples, decisions) {
    Object.assign(this, { recording, samples, decisions, file: null, gain: 1, waiting: false });
    this.host = document.querySelector(".explorer");
    this.viewport = this.find(".viewport");
    this.canvas = this.find(".viewport canvas");
    this.overview = this.find(".overview");
    this.view = { from: 0, to: recording.samples };
    this.rows = [];
    this.again = () => {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    };
    this.chooseRows();
    drawn(this.canvas, this.again);
    decisions.listeners.push(this.again);
    this.listen();
  }
  find(name) { return this.host.querySelector(name); }

  chooseRows() {
    const { sources, series } = this.recording, what = this.find(".what").value, all = series.map((_, i) => i);
    this.rows = all.filter((i) => what === "all" || (i < sources) === (what === "sources"));
    this.find(".spacer").style.height = this.rows.length * ROW + AXIS + "px";
    // Two pixels are its borders.
    this.viewport.style.height = Math.min(this.rows.length, this.recording.rows_at_once) * ROW + AXIS + 2 + "px";
    this.again();
  }

  // Shows samples `from` to `to`, moved into the recording.
  show(from, to) {
    const { samples } = this.recording, span = Math.min(Math.max(to - from, Math.min(FEWEST, samples)), samples);
    const middle = (from + to) / 2, start = Math.min(Math.max(middle - span / 2, 0), samples - span);
    this.view = { from: start, to: start + span };
    this.again();
  }
  move(share) {
    const by = share * (this.view.to - this.view.from);
    this.show(this.view.from + by, this.view.to + by);
  }
  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    this.show(at + (this.view.from - at) * factor, at + (this.view.to - at) * factor);
  }
  whole() { this.show(0, this.recording.samples); }
  // Source k at a stretch of time, from its card.
  go(k, start, length) {
    if (this.find(".what").value === "channels") { this.find(".what").value = "sources"; this.chooseRows(); }
    this.show(start, start + length);
    this.viewport.scrollTop = (this.rows.indexOf(k) - 2) * ROW;
    this.host.scrollIntoView({ block: "nearest" });
    this.viewport.focus({ preventScroll: true });
  }

  samplesPerPixel() { return (this.view.to - this.view.from) / Math.max(this.canvas.clientWidth - namesWide(), 1); }
  x(sample) { return namesWide() + (sample - this.view.from) / this.samplesPerPixel(); }
  sampleAt(px) { return this.view.from + (px - namesWide()) * this.samplesPerPixel(); }
  cleaning() { const box = this.find(".clean"); return box && box.checked ? this.decisions.list() : []; }

  // What is known of row i at this zoom.
  seriesOf(i) {
    const series = this.samples.get(i, this.again), { sources, bucket } = this.recording;
    const readable = series && this.file && i < sources && this.samplesPerPixel() < bucket;
    return (readable && this.file.get(i, series, this.view, this.again)) || series;
  }

  draw() {
    const height = this.viewport.clientHeight;
    this.canvas.style.height = height + "px";
    const paper = surface(this.canvas, height), first = Math.floor(this.viewport.scrollTop / ROW);
    const bottom = height - AXIS, shown = this.rows.slice(first, first + Math.ceil(bottom / ROW) + 1);
    this.drawAxis(paper, bottom);
    const { context } = paper;
    context.save(); context.beginPath(); context.rect(0, 0, paper.width, bottom); context.clip();
    shown.forEach((i, n) => this.drawRow(paper, i, (first + n) * ROW - this.viewport.scrollTop));
    context.restore();
    this.drawEvents(paper, bottom);
    this.drawOverview(shown[0]);
    this.host.dataset.from = this.view.from.toFixed(3);
    this.host.dataset.to = this.view.to.toFixed(3);
    if (this.samples.failed) this.say(`This browser cannot unpack the samples (${this.samples.failed}); a newer one can.`);
  }

  drawAxis({ context, width, grid, quiet }, bottom) {
    const period = this.recording.rate ? 1 / this.recording.rate : 1, { from, to } = this.view;
    context.textBaseline = "middle"; context.textAlign = "center";
    for (const mark of ticks(from * period, to * period, (width - namesWide()) / 100)) {
      const px = this.x(mark / period), words = text(mark, 8) + (this.recording.rate ? " s" : "");
      const half = context.measureText(words).width / 2;
      context.strokeStyle = grid; stroke(context, [[px, 0], [px, bottom]]);
      context.fillStyle = quiet; context.fillText(words, Math.min(Math.max(px, namesWide() + half), width - half - 2), bottom + 13);
    }
  }

  // Names of events lie over the rows, on a ground of their own; where they would overlap, later ones are left out.
  // Where events are dense their lines are short, so that the rows can be seen.
  drawEvents({ context, bad, page, width }, bottom) {
    const { from, to } = this.view, shown = this.recording.events.filter(({ sample }) => sample >= from && sample <= to);
    const dense = shown.length * EVENT > width - namesWide(), length = dense ? MARK : bottom;
    let free = 0;
    context.textAlign = "left";
    this.host.dataset.events = dense ? "marks" : "lines";
    for (const { sample, name } of shown) {
      const px = this.x(sample), words = fitted(context, name, 120), wide = context.measureText(words).width;
      context.strokeStyle = bad;
      context.setLineDash([3, 3]);
      stroke(context, [[px, 0], [px, length]]);
      context.setLineDash([]);
      if (px < free) continue;
      context.fillStyle = page;
      context.fillRect(px + 1, 0, wide + 5, 16);
      context.fillStyle = bad;
      context.fillText(words, px + 3, 8);
      free = px + wide + 10;
    }
  }

  drawRow(paper, i, top) {
    const { context, ink, quiet, rule, width } = paper, { sources, series } = this.recording, about = series[i];
    const rejected = i < sources && this.decisions.rejected.has(i), middle = top + ROW / 2;
    context.strokeStyle = rule; stroke(context, [[0, top + ROW], [width, top + ROW]]);
    context.textAlign = "left"; context.textBaseline = "middle"; context.fillStyle = rejected ? quiet : ink;
    context.fillText(fitted(context, about.name, namesWide() - 8), 2, middle - (rejected || about.unit ? 7 : 0));
    context.fillStyle = quiet;
    if (rejected) context.fillText("rejected", 2, middle + 8);
    else if (about.unit) context.fillText(fitted(context, about.unit, namesWide() - 8), 2, middle + 8);
    const found = this.seriesOf(i);
    if (!found) return context.fillText("…", namesWide() + 4, middle);
    const y = (value) => middle - ((value - found.middle) / found.half) * this.gain * (ROW / 2 - 4);
    const removed = i >= sources ? this.cleaning() : [];
    const clean = removed.length ? this.samples.without(i - sources, removed, this.again) : undefined;
    context.save();
    context.beginPath();
    context.rect(namesWide(), top - ROW / 3, width - namesWide(), (ROW * 5) / 3);
    context.clip();
    Object.assign(context, { lineWidth: 1, globalAlpha: rejected ? 0.4 : 1, strokeStyle: shade(about.color) });
    drawSeries(context, found, this.view, namesWide(), width, y);
    if (clean) {
      Object.assign(context, { lineWidth: 1.3, strokeStyle: shade("#0072b2") });
      drawSeries(context, clean, this.view, namesWide(), width, y);
    }
    context.restore();
  }

  // The whole recording in one line, and which part of it is shown.
  drawOverview(i) {
    const paper = surface(this.overview), { context, width, height } = paper, { samples } = this.recording;
    const series = i === undefined ? undefined : this.samples.get(i, this.again);
    const y = (value) => height / 2 - ((value - series.middle) / series.half) * (height / 2 - 3);
    context.strokeStyle = paper.quiet;
    if (series) drawSeries(context, series, { from: 0, to: samples }, namesWide(), width, y);
    const place = (sample) => namesWide() + (sample / samples) * (width - namesWide());
    const from = place(this.view.from), to = place(this.view.to);
    context.fillStyle = paper.link + "33"; context.fillRect(from, 0, Math.max(to - from, 2), height);
    context.strokeStyle = paper.link; context.strokeRect(from + 0.5, 0.5, Math.max(to - from - 1, 1), height - 1);
    context.fillStyle = paper.quiet; context.textBaseline = "middle"; context.fillText("all of it", 2, height / 2);
  }

  say(words) { this.find(".readout").textContent = words; }
  tell(px, py) {
    const i = this.rows[Math.floor((py + this.viewport.scrollTop) / ROW)], sample = Math.round(this.sampleAt(px));
    const { rate, series, samples } = this.recording;
    if (i === undefined || px < namesWide() || sample < 0 || sample >= samples) return this.say("");
    const found = this.seriesOf(i), value = found ? valueAt(found, sample) : null, { name, unit } = series[i];
    const time = rate ? `${text(sample / rate, 7)} s · ` : "", measured = `${text(value, 5)} ${unit || ""}`;
    this.say(`${name} · ${time}sample ${sample + 1} · ${value === null ? "missing" : measured}`);
  }

  listen() {
    const actions = {
      ".earlier": () => this.move(-0.5), ".later": () => this.move(0.5), ".whole": () => this.whole(),
      ".closer": () => this.zoom(0.5), ".wider": () => this.zoom(2),
      ".taller": () => this.grow(1.5), ".flatter": () => this.grow(1 / 1.5),
    };
    for (const [name, action] of Object.entries(actions)) this.find(name).addEventListener("click", action);
    this.find(".what").addEventListener("change", () => this.chooseRows());
    const clean = this.find(".clean"), file = this.find(".file");
    if (clean) clean.addEventListener("change", () => this.cleanChanged());
    if (file) file.addEventListener("change", () => this.openFile(file.files[0]));
    this.viewport.addEventListener("scroll", this.again);
    this.viewport.addEventListener("keydown", (event) => this.key(event));
    this.viewport.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    moved(this.canvas, {
      drag: (by) => { const share = -by / (this.canvas.clientWidth - namesWide()); this.move(share); },
      pinch: (factor, px) => this.zoom(1 / factor, this.sampleAt(px)),
      hover: (px, py) => this.tell(px, py),
    });
    moved(this.overview, { press: (px) => this.centre(px), drag: (by, px) => this.centre(px) });
    this.canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.sampleAt(event.offsetX)));
  }
  grow(factor) { this.gain *= factor; this.again(); }
  centre(px) {
    const share = (px - namesWide()) / (this.overview.clientWidth - namesWide()), half = (this.view.to - this.view.from) / 2;
    const middle = share * this.recording.samples;
    this.show(middle - half, middle + half);
  }
  // Cleaned channels are asked for: show channels, and say when there is nothing to remove.
  cleanChanged() {
    const wanted = this.find(".clean").checked, what = this.find(".what"), nothing = wanted && !this.decisions.list().length;
    if (wanted && what.value === "sources") { what.value = "channels"; this.chooseRows(); }
    this.say(nothing ? "No source is rejected yet, so the channels stay as they are." : "");
    this.again();
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const span = this.view.to - this.view.from, { samples } = this.recording;
    const actions = {
      ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), "0": () => this.whole(),
      Home: () => this.show(0, span), End: () => this.show(samples - span, samples),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      "]": () => this.grow(1.25), "[": () => this.grow(0.8),
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  }
  // The wheel alone scrolls the rows, as it does everywhere.
  wheel(event) {
    if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(event.deltaY * 0.004), this.sampleAt(event.offsetX));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX / (this.canvas.clientWidth - namesWide()));
    else return;
    event.preventDefault();
  }
  async openFile(file) {
    if (!file) return;
    try {
      this.file = await SourceFile.open(file, this.recording);
      this.say(`${file.name} is open: zoom in to see single samples.`);
    } catch (error) { this.say(error.message); }
    this.again();
  }
}

// Presses, drags and pinches on a canvas.
function moved(canvas, { press, drag, pinch, hover }) {
  const fingers = new Map();
  const apart = () => { const [a, b] = [...fingers.values()]; return Math.max(Math.abs(a[0] - b[0]), 1); };
  canvas.addEventListener("pointerdown", (event) => {
    const place = placeIn(canvas, event);
    fingers.set(event.pointerId, place);
    canvas.setPointerCapture(event.pointerId);
    if (press) press(place[0]);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = placeIn(canvas, event), before = fingers.get(event.pointerId);
    if (!before) { if (hover) hover(...now); return; }
    const wide = fingers.size === 2 ? apart() : 0;
    fingers.set(event.pointerId, now);
    if (fingers.size === 1) drag(now[0] - before[0], now[0]);
    else if (fingers.size === 2 && pinch) pinch(apart() / wide, now[0]);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
}

function startSources() {
  const recording = readData("recording"), samples = new Samples(recording), decisions = new Decisions(recording);
  const explorer = new Explorer(recording, samples, decisions);
  startDecisionBar(decisions);
  startCards(recording, decisions, (k, start, length) => explorer.go(k, start, length));
  startAudio(recording, samples);
  return { recording, samples, decisions, explorer };
}
