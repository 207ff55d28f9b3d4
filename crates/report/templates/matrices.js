// Charts of matrices and of one value for each name.

// Cividis, and ColorBrewer's blue to red: scales that all kinds of colour vision can follow.
const SEQUENTIAL = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];
const DIVERGING = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"];
function ramp(colors, share) {
  const place = Math.min(Math.max(share, 0), 1) * (colors.length - 1), lower = Math.min(Math.floor(place), colors.length - 2);
  const part = (color, at) => parseInt(color.slice(at, at + 2), 16), mix = (at) => Math.round(part(colors[lower], at) + (part(colors[lower + 1], at) - part(colors[lower], at)) * (place - lower));
  return `rgb(${mix(1)},${mix(3)},${mix(5)})`;
}

function heatChart(host, canvas, spec) {
  const { x, y, z } = spec, [low, high] = spec.range, colors = spec.diverging ? DIVERGING : SEQUENTIAL;
  const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  let plot = null;
  function draw() {
    const paper = surface(canvas), { context, width, height } = paper;
    const widest = Math.min(Math.max(...y.names.map((name) => context.measureText(name).width), 10), width * 0.3);
    plot = { left: widest + 28, right: width - 62, top: 4, bottom: height - 42 };
    const wide = (plot.right - plot.left) / x.names.length, tall = (plot.bottom - plot.top) / y.names.length;
    z.forEach((row, i) => row.forEach((value, j) => {
      if (value === null) return;
      context.fillStyle = ramp(colors, share(value));
      context.fillRect(plot.left + j * wide, plot.top + i * tall, Math.ceil(wide), Math.ceil(tall));
    }));
    context.fillStyle = paper.quiet; context.textBaseline = "middle"; context.textAlign = "right";
    const strideY = Math.ceil(13 / tall), label = Math.max(...x.names.map((name) => context.measureText(name).width)), strideX = Math.ceil(Math.min(label + 8, 90) / wide);
    y.names.forEach((name, i) => { if (i % strideY === 0) context.fillText(fitted(context, name, widest), plot.left - 6, plot.top + (i + 0.5) * tall); });
    context.textAlign = "center";
    x.names.forEach((name, j) => { if (j % strideX === 0) context.fillText(fitted(context, name, strideX * wide), plot.left + (j + 0.5) * wide, plot.bottom + 12); });
    context.fillStyle = paper.ink; context.fillText(x.title, (plot.left + plot.right) / 2, height - 9);
    context.save(); context.translate(9, (plot.top + plot.bottom) / 2); context.rotate(-Math.PI / 2); context.fillText(y.title, 0, 0); context.restore();
    const bar = plot.bottom - plot.top;
    for (let i = 0; i < bar; i++) { context.fillStyle = ramp(colors, 1 - i / bar); context.fillRect(width - 54, plot.top + i, 10, 1.5); }
    context.fillStyle = paper.quiet; context.textAlign = "left";
    for (const mark of ticks(low, high, bar / 50)) context.fillText(text(mark, 3), width - 41, plot.bottom - share(mark) * bar);
  }
  drawn(canvas, draw);
  pointed(host, canvas, () => plot, (px, py) => {
    const j = Math.floor(((px - plot.left) / (plot.right - plot.left)) * x.names.length), i = Math.floor(((py - plot.top) / (plot.bottom - plot.top)) * y.names.length);
    return [[null, `${y.title} ${y.names[i]}`], [null, `${x.title} ${x.names[j]}`], [null, text(z[i][j])]];
  });
}

function barChart(host, canvas, spec) {
  const { names, heights } = spec, [low, high] = extent([0, ...heights]);
  let plot = null;
  function draw() {
    const paper = surface(canvas), { context, width, height } = paper;
    plot = { left: 58, right: width - 10, top: 8, bottom: height - 42 };
    const y = scale([low, low < 0 ? high : high * 1.04], [plot.bottom, plot.top]), wide = (plot.right - plot.left) / names.length;
    context.textBaseline = "middle"; context.textAlign = "right";
    for (const mark of ticks(low, high, 6)) {
      context.strokeStyle = paper.grid; stroke(context, [[plot.left, y(mark)], [plot.right, y(mark)]]);
      context.fillStyle = paper.quiet; context.fillText(text(mark), plot.left - 6, y(mark));
    }
    context.fillStyle = shade("#0072b2");
    heights.forEach((value, i) => { if (value !== null) context.fillRect(plot.left + (i + 0.1) * wide, Math.min(y(value), y(0)), Math.max(0.8 * wide, 0.5), Math.abs(y(value) - y(0))); });
    context.fillStyle = paper.quiet; context.textAlign = "center";
    const label = Math.min(Math.max(...names.map((name) => context.measureText(name).width)) + 8, 110), stride = Math.ceil(label / wide);
    names.forEach((name, i) => { if (i % stride === 0) context.fillText(fitted(context, name, stride * wide), plot.left + (i + 0.5) * wide, plot.bottom + 12); });
    context.fillStyle = paper.ink; context.fillText(spec.x.title, (plot.left + plot.right) / 2, height - 9);
    context.save(); context.translate(9, (plot.top + plot.bottom) / 2); context.rotate(-Math.PI / 2); context.fillText(spec.y.title, 0, 0); context.restore();
  }
  drawn(canvas, draw);
  pointed(host, canvas, () => plot, (px) => {
    const i = Math.floor(((px - plot.left) / (plot.right - plot.left)) * names.length);
    return [[null, names[i]], [null, text(heights[i])]];
  });
}

// Tells what `describe` says of the place under the pointer.
function pointed(host, canvas, plot, describe) {
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top, area = plot();
    const inside = area && px > area.left && px < area.right && py > area.top && py < area.bottom;
    showTip(host, px, py, inside ? describe(px, py) : null);
  });
  canvas.addEventListener("pointerleave", () => showTip(host));
}
