// Charts of matrices and of one value for each name.

// Cividis, and ColorBrewer's blue to red: scales that all kinds of colour vision can follow.
const SEQUENTIAL = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];
const DIVERGING = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"];

// The colour at a share from 0 to 1 of a scale.
function ramp(colors, share) {
  const place = Math.min(Math.max(share, 0), 1) * (colors.length - 1), lower = Math.min(Math.floor(place), colors.length - 2);
  const part = (color, at) => parseInt(color.slice(at, at + 2), 16);
  const mix = (at) => {
    const from = part(colors[lower], at), to = part(colors[lower + 1], at);
    return Math.round(from + (to - from) * (place - lower));
  };
  return `rgb(${mix(1)},${mix(3)},${mix(5)})`;
}

class HeatChart {
  constructor(host, canvas, spec) {
    Object.assign(this, { x: spec.x, y: spec.y, z: spec.z, range: spec.range, plot: null });
    this.colors = spec.diverging ? DIVERGING : SEQUENTIAL;
    drawn(canvas, () => this.draw(surface(canvas)));
    pointed(host, canvas, () => this.plot, (px, py) => this.describe(px, py));
  }

  share(value) { const [low, high] = this.range; return high > low ? (value - low) / (high - low) : 0.5; }

  draw(paper) {
    const { context, width, height } = paper;
    const names = Math.min(widest(context, this.y.names), width * 0.3);
    this.plot = { left: names + 28, right: width - 62, top: 4, bottom: height - 42 };
    const { left, right, top, bottom } = this.plot;
    const wide = (right - left) / this.x.names.length, tall = (bottom - top) / this.y.names.length;
    this.z.forEach((row, i) => row.forEach((value, j) => {
      if (value === null) return;
      context.fillStyle = ramp(this.colors, this.share(value));
      context.fillRect(left + j * wide, top + i * tall, Math.ceil(wide), Math.ceil(tall));
    }));
    context.fillStyle = paper.quiet;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const stride = Math.ceil(13 / tall);
    this.y.names.forEach((name, i) => {
      if (i % stride === 0) context.fillText(fitted(context, name, names), left - 6, top + (i + 0.5) * tall);
    });
    namesUnder(context, this.x.names, this.plot);
    context.fillStyle = paper.ink;
    context.fillText(this.x.title, (left + right) / 2, height - 9);
    sideTitle(context, this.y.title, (top + bottom) / 2);
    this.drawScale(paper);
  }

  drawScale({ context, width, quiet }) {
    const { top, bottom } = this.plot, tall = bottom - top;
    for (let i = 0; i < tall; i++) {
      context.fillStyle = ramp(this.colors, 1 - i / tall);
      context.fillRect(width - 54, top + i, 10, 1.5);
    }
    context.fillStyle = quiet;
    context.textAlign = "left";
    for (const mark of ticks(...this.range, tall / 50)) {
      context.fillText(text(mark, 3), width - 41, Math.max(bottom - this.share(mark) * tall, top + 6));
    }
  }

  describe(px, py) {
    const { x, y, z, plot } = this;
    const j = Math.floor(((px - plot.left) / (plot.right - plot.left)) * x.names.length);
    const i = Math.floor(((py - plot.top) / (plot.bottom - plot.top)) * y.names.length);
    return [[null, `${y.title} ${y.names[i]}`], [null, `${x.title} ${x.names[j]}`], [null, text(z[i][j])]];
  }
}

class BarChart {
  constructor(host, canvas, spec) {
    Object.assign(this, { spec, plot: null });
    drawn(canvas, () => this.draw(surface(canvas)));
    pointed(host, canvas, () => this.plot, (px) => this.describe(px));
  }

  draw(paper) {
    const { context, width, height } = paper, { names, heights } = this.spec, [low, high] = extent([0, ...heights]);
    this.plot = { left: 58, right: width - 10, top: 8, bottom: height - 42 };
    const { left, right, top, bottom } = this.plot, wide = (right - left) / names.length;
    const y = scale([low, low < 0 ? high : high * 1.04], [bottom, top]);
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const mark of ticks(low, high, 6)) {
      context.strokeStyle = paper.grid;
      stroke(context, [[left, y(mark)], [right, y(mark)]]);
      context.fillStyle = paper.quiet;
      context.fillText(text(mark), left - 6, y(mark));
    }
    context.fillStyle = shade("#0072b2");
    heights.forEach((value, i) => {
      if (value === null) return;
      const from = Math.min(y(value), y(0)), tall = Math.abs(y(value) - y(0));
      context.fillRect(left + (i + 0.1) * wide, from, Math.max(0.8 * wide, 0.5), tall);
    });
    context.fillStyle = paper.quiet;
    namesUnder(context, names, this.plot);
    context.fillStyle = paper.ink;
    context.fillText(this.spec.x.title, (left + right) / 2, height - 9);
    sideTitle(context, this.spec.y.title, (top + bottom) / 2);
  }

  describe(px) {
    const { left, right } = this.plot, { names, heights } = this.spec;
    const i = Math.floor(((px - left) / (right - left)) * names.length);
    return [[null, names[i]], [null, text(heights[i])]];
  }
}

function widest(context, names) {
  let most = 10;
  for (const name of names) most = Math.max(most, context.measureText(name).width);
  return most;
}

// Names along the lower side, as many as there is room for.
function namesUnder(context, names, { left, right, bottom }) {
  const wide = (right - left) / names.length, stride = Math.ceil(Math.min(widest(context, names) + 8, 100) / wide);
  context.textAlign = "center";
  names.forEach((name, i) => {
    if (i % stride === 0) context.fillText(fitted(context, name, stride * wide - 4), left + (i + 0.5) * wide, bottom + 12);
  });
}

// Tells what `describe` says of the place under the pointer.
function pointed(host, canvas, plot, describe) {
  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = placeIn(canvas, event), area = plot();
    const inside = area && px > area.left && px < area.right && py > area.top && py < area.bottom;
    showTip(host, px, py, inside ? describe(px, py) : null);
  });
  canvas.addEventListener("pointerleave", () => showTip(host));
}
