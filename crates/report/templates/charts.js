// Charts of curves. Bands lie under each other over one horizontal axis: a chart of lines has one band with numbers at its
// side, a chart of rows has one for every row. Dragging zooms, a double click zooms out, the pointer tells values.

// Curves whose values the pointer tells all at once; of more, it names the closest.
const MOST_TOLD = 8;

class CurveChart {
  constructor(host, canvas, spec) {
    Object.assign(this, { host, canvas, axis: spec.x, drag: null, plot: null });
    this.rows = spec.kind === "rows";
    this.bands = this.rows ? spec.rows : [{ name: "", series: spec.series, y: spec.y }];
    const lines = this.bands.flatMap((band) => band.series);
    for (const line of lines) line.at = placesOf(line);
    this.whole = this.view = extent(lines.flatMap((line) => endsOf(line, this.axis.log)), this.axis.log);
    this.again = drawn(canvas, () => this.draw());
    this.listen();
  }

  x() { return scale(this.view, [this.plot.left, this.plot.right], this.axis.log); }

  draw() {
    const paper = surface(this.canvas), { width, height } = paper;
    const bottom = height - (this.axis.title ? 40 : 24);
    this.plot = { left: this.rows ? 44 : 58, right: width - 10, top: 6, bottom };
    paper.context.textBaseline = "middle";
    this.drawAxis(paper);
    const each = (bottom - this.plot.top) / this.bands.length;
    this.bands.forEach((band, i) => this.drawBand(paper, band, this.plot.top + i * each, each));
    if (this.drag) this.drawDrag(paper);
  }

  drawAxis({ context, width, height, grid, quiet, ink }) {
    const { axis, plot, view } = this, x = this.x(), count = width / 90;
    const marks = axis.log ? logTicks(...view, count) : ticks(...view, count, axis.tick || 0);
    context.textAlign = "center";
    for (const mark of marks) {
      context.strokeStyle = grid;
      stroke(context, [[x(mark), plot.top], [x(mark), plot.bottom]]);
      context.fillStyle = quiet;
      context.fillText(text(mark, 6), x(mark), plot.bottom + 12);
    }
    context.fillStyle = ink;
    context.fillText(axis.title || "", (plot.left + plot.right) / 2, height - 9);
  }

  drawBand(paper, band, from, each) {
    const { context } = paper, { left, right } = this.plot, style = band.y || {};
    const top = from + (band.name ? 16 : 0), bottom = from + each - (band.name ? 4 : 0);
    const range = padded(visible(band.series, this.view, style.log), style.log);
    const y = scale(range, [bottom, top], style.log);
    Object.assign(band, { bottom, scale: y });
    const marks = style.log ? logTicks(...range, each / 40) : ticks(...range, Math.max(each / 44, 1), style.tick || 0);
    for (const mark of marks) {
      context.strokeStyle = paper.grid;
      stroke(context, [[left, y(mark)], [right, y(mark)]]);
      context.fillStyle = paper.quiet;
      context.textAlign = "right";
      context.fillText(text(mark), left - 6, y(mark));
    }
    context.fillStyle = paper.ink;
    context.textAlign = "left";
    if (band.name) context.fillText(fitted(context, band.name, right - left), left, top - 8);
    if (style.title) sideTitle(context, style.title, (top + bottom) / 2);
    context.save();
    context.beginPath();
    context.rect(left, top - 2, right - left, bottom - top + 4);
    context.clip();
    for (const line of band.series) this.drawLine(context, line, y, style.log);
    context.restore();
  }

  drawLine(context, line, y, log) {
    const x = this.x();
    context.strokeStyle = shade(line.color);
    context.lineWidth = line.width;
    context.beginPath();
    for (let j = 0, open = false; j < line.y.length; j++) {
      const value = line.y[j], place = line.at(j);
      if (value === null || (log && value <= 0) || (this.axis.log && place <= 0)) { open = false; continue; }
      if (open) context.lineTo(x(place), y(value)); else context.moveTo(x(place), y(value));
      open = true;
    }
    context.stroke();
  }

  drawDrag({ context, link }) {
    const { from, to } = this.drag, { top, bottom } = this.plot;
    context.fillStyle = link + "33";
    context.fillRect(Math.min(from, to), top, Math.abs(to - from), bottom - top);
  }

  tell(px, py) {
    if (px < this.plot.left || px > this.plot.right) return showTip(this.host);
    const band = this.bands.find(({ bottom }) => py <= bottom) || this.bands[this.bands.length - 1], at = this.x().back(px);
    const near = band.series.map((line) => ({ line, j: nearest(line, at) })).filter(({ line, j }) => j >= 0 && line.y[j] !== null);
    if (!near.length) return showTip(this.host);
    const away = ({ line, j }) => Math.abs(band.scale(line.y[j]) - py);
    const closest = near.reduce((best, one) => (away(one) < away(best) ? one : best));
    const shown = near.length <= MOST_TOLD ? near : [closest], place = near[0].line.at(near[0].j);
    const lines = shown.map(({ line, j }) => [shade(line.color), `${line.name} ${text(line.y[j], 5)}`]);
    showTip(this.host, px, py, [[null, `${this.axis.title || "x"} ${text(place, 6)}`], ...lines]);
  }

  zoom() {
    const { left, right } = this.plot, { from, to } = this.drag, x = this.x();
    const [low, high] = [from, to].map((px) => x.back(Math.min(Math.max(px, left), right))).sort((a, b) => a - b);
    if (Math.abs(to - from) > 5 && high > low) this.view = [low, high];
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      // A finger scrolls the page.
      if (event.pointerType === "touch") return;
      const [px] = placeIn(canvas, event);
      this.drag = { from: px, to: px };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [px, py] = placeIn(canvas, event);
      if (!this.drag) return this.tell(px, py);
      this.drag.to = px;
      this.again();
    });
    canvas.addEventListener("pointerup", () => {
      if (this.drag) this.zoom();
      this.drag = null;
      this.again();
    });
    canvas.addEventListener("pointerleave", () => showTip(this.host));
    canvas.addEventListener("dblclick", () => { this.view = this.whole; this.again(); });
  }
}

function placesOf(line) {
  return Array.isArray(line.x) ? (j) => line.x[j] : (j) => line.x.first + j * line.x.step;
}

// The first place of a line that an axis can show, and the last.
function endsOf(line, log) {
  const n = line.y.length;
  return n ? [line.at(log && line.at(0) <= 0 ? 1 : 0), line.at(n - 1)] : [];
}

// Lowest and highest value between two places.
function visible(series, view, log) {
  let low = Infinity, high = -Infinity;
  for (const line of series) for (let j = 0; j < line.y.length; j++) {
    const place = line.at(j), value = line.y[j];
    if (place < view[0] || place > view[1] || value === null || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return extent([low, high], log);
}

// The point of a line next to a place.
function nearest(line, at) {
  let low = 0, high = line.y.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (line.at(middle) < at) low = middle; else high = middle;
  }
  return Math.abs(line.at(low) - at) <= Math.abs(line.at(high) - at) ? low : high;
}
