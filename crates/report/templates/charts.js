// Charts of curves. Bands lie under each other over one horizontal axis: a chart of lines has one band with numbers at its
// side, a chart of rows has one for every row. Dragging zooms, a double click zooms out, the pointer tells values.

function curveChart(host, canvas, spec) {
  const bands = spec.kind === "rows" ? spec.rows : [{ name: "", series: spec.series, y: spec.y }];
  for (const band of bands) for (const line of band.series) line.at = placesOf(line);
  const axis = spec.x, log = axis.log, all = bands.flatMap((band) => band.series);
  const whole = extent(all.flatMap((line) => line.y.length ? [line.at(log && line.at(0) <= 0 ? 1 : 0), line.at(line.y.length - 1)] : []), log);
  let view = whole, drag = null, plot = null;
  const scaleX = () => scale(view, [plot.left, plot.right], log);

  function draw() {
    const paper = surface(canvas), { context, width, height } = paper;
    plot = { left: spec.kind === "rows" ? 44 : 58, right: width - 10, top: 6, bottom: height - (axis.title ? 40 : 24) };
    const x = scaleX(), each = (plot.bottom - plot.top) / bands.length;
    context.textBaseline = "middle";
    const marks = log ? logTicks(...view, width / 90) : ticks(...view, width / 90, axis.tick || 0);
    context.strokeStyle = paper.grid;
    for (const mark of marks) stroke(context, [[x(mark), plot.top], [x(mark), plot.bottom]]);
    context.fillStyle = paper.quiet; context.textAlign = "center";
    for (const mark of marks) context.fillText(text(mark, 6), x(mark), plot.bottom + 12);
    context.fillStyle = paper.ink;
    context.fillText(axis.title || "", (plot.left + plot.right) / 2, height - 9);
    bands.forEach((band, i) => {
      const style = band.y || {}, top = plot.top + i * each + (band.name ? 16 : 0), bottom = plot.top + (i + 1) * each - (band.name ? 4 : 0);
      const seen = visible(band.series, view, style.log), y = scale(padded(seen, style.log), [bottom, top], style.log);
      band.y0 = top; band.y1 = bottom; band.scale = y;
      const marksY = style.log ? logTicks(...padded(seen, true), each / 40) : ticks(...padded(seen), Math.max(each / 44, 1), style.tick || 0);
      for (const mark of marksY.filter((mark) => y(mark) <= bottom + 1 && y(mark) >= top - 1)) {
        context.strokeStyle = paper.grid; stroke(context, [[plot.left, y(mark)], [plot.right, y(mark)]]);
        context.fillStyle = paper.quiet; context.textAlign = "right"; context.fillText(text(mark), plot.left - 6, y(mark));
      }
      if (band.name) { context.fillStyle = paper.ink; context.textAlign = "left"; context.fillText(fitted(context, band.name, plot.right - plot.left), plot.left, top - 8); }
      if (style.title) {
        context.save(); context.translate(9, (top + bottom) / 2); context.rotate(-Math.PI / 2);
        context.fillStyle = paper.ink; context.textAlign = "center"; context.fillText(style.title, 0, 0); context.restore();
      }
      context.save(); context.beginPath(); context.rect(plot.left, top - 2, plot.right - plot.left, bottom - top + 4); context.clip();
      for (const line of band.series) {
        context.strokeStyle = shade(line.color); context.lineWidth = line.width; context.beginPath();
        let open = false;
        for (let j = 0; j < line.y.length; j++) {
          const value = line.y[j], place = line.at(j);
          if (value === null || (style.log && value <= 0) || (log && place <= 0)) { open = false; continue; }
          if (open) context.lineTo(x(place), y(value)); else context.moveTo(x(place), y(value));
          open = true;
        }
        context.stroke();
      }
      context.restore(); context.lineWidth = 1;
    });
    if (drag) { context.fillStyle = paper.link + "33"; context.fillRect(Math.min(drag.from, drag.to), plot.top, Math.abs(drag.to - drag.from), plot.bottom - plot.top); }
  }

  function tip(px, py) {
    if (px < plot.left || px > plot.right) return showTip(host);
    const band = bands.find((band) => py <= band.y1) || bands[bands.length - 1], x = scaleX(), at = x.back(px);
    const near = band.series.map((line) => ({ line, j: nearest(line, at) })).filter(({ line, j }) => j >= 0 && line.y[j] !== null);
    if (!near.length) return showTip(host);
    const away = ({ line, j }) => Math.abs(band.scale(line.y[j]) - py);
    // A line for each curve can be read for a few; of many, the closest is named.
    const shown = near.length <= 8 ? near : [near.reduce((best, one) => (away(one) < away(best) ? one : best))];
    showTip(host, px, py, [[null, `${axis.title || "x"} ${text(near[0].line.at(near[0].j), 6)}`], ...shown.map(({ line, j }) => [shade(line.color), `${line.name} ${text(line.y[j], 5)}`])]);
  }

  const again = drawn(canvas, draw), place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => { if (event.pointerType !== "touch") { const [px] = place(event); drag = { from: px, to: px }; canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener("pointermove", (event) => { const [px, py] = place(event); if (drag) { drag.to = px; again(); } else tip(px, py); });
  canvas.addEventListener("pointerup", () => {
    if (drag && Math.abs(drag.to - drag.from) > 5) {
      const x = scaleX(), ends = [drag.from, drag.to].map((px) => x.back(Math.min(Math.max(px, plot.left), plot.right))).sort((a, b) => a - b);
      if (ends[1] > ends[0]) view = ends;
    }
    drag = null; again();
  });
  canvas.addEventListener("pointerleave", () => showTip(host));
  canvas.addEventListener("dblclick", () => { view = whole; again(); });
}

function stroke(context, points) { context.lineWidth = 1; context.beginPath(); points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y))); context.stroke(); }
function placesOf(line) { return Array.isArray(line.x) ? (j) => line.x[j] : (j) => line.x.first + j * line.x.step; }

function extent(values, log) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null && Number.isFinite(value) && (!log || value > 0)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (low === high) return log ? [low / 2, low * 2] : [low - 0.5, high + 0.5];
  return [low, high];
}

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
function padded([low, high], log) { return log ? [low / (high / low) ** 0.05, high * (high / low) ** 0.05] : [low - 0.05 * (high - low), high + 0.05 * (high - low)]; }

function scale([low, high], [from, to], log) {
  const turn = log ? Math.log : (value) => value, back = log ? Math.exp : (value) => value, a = turn(low), b = turn(high);
  const map = (value) => from + ((turn(value) - a) / (b - a)) * (to - from);
  map.back = (pixel) => back(a + ((pixel - from) / (to - from)) * (b - a));
  return map;
}

function nearest(line, at) {
  let low = 0, high = line.y.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) { const middle = (low + high) >> 1; if (line.at(middle) < at) low = middle; else high = middle; }
  return Math.abs(line.at(low) - at) <= Math.abs(line.at(high) - at) ? low : high;
}
