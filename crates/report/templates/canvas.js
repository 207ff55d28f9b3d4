// Drawing on canvases: size, colours of the page, ticks and numbers. Nothing here knows what is drawn.

const dark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
const redraws = new Set();

// Calls `draw` now and whenever the page's colours, the element's size or the paper change.
function drawn(element, draw) {
  let width = 0;
  const again = () => { if (element.clientWidth > 0) { width = element.clientWidth; draw(); } };
  redraws.add(again);
  new ResizeObserver(() => { if (element.clientWidth !== width) again(); }).observe(element);
  again();
  return again;
}
function redrawAll() { for (const again of redraws) again(); }
dark.addEventListener("change", redrawAll);
printing.addEventListener("change", redrawAll);

// The canvas cleared and sized for the screen: its context, in pixels of the style sheet, and colours.
function surface(canvas, height = canvas.clientHeight) {
  const width = canvas.clientWidth, scale = Math.max(devicePixelRatio || 1, printing.matches ? 2 : 1);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue("--" + name).trim();
  context.font = "12px " + getComputedStyle(document.body).fontFamily;
  context.lineJoin = "round";
  const colors = Object.fromEntries(["page", "ink", "quiet", "rule", "grid", "link", "bad"].map((name) => [name, color(name)]));
  return { context, width, height, ...colors };
}

// A colour of a line as it is on this page: brighter on a dark one.
function shade(color) {
  if (!dark.matches || printing.matches) return color;
  const part = (at) => Math.round(parseInt(color.slice(at, at + 2), 16) * 0.72 + 255 * 0.28);
  return `rgb(${part(1)}, ${part(3)}, ${part(5)})`;
}

// About `count` round numbers from low to high.
function ticks(low, high, count, step = 0) {
  if (!(high > low)) return [low];
  if (!step) {
    const rough = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough));
    step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  }
  const found = [], first = Math.ceil(low / step - 1e-9);
  for (let i = first; i * step <= high + step * 1e-9 && found.length < 200; i++) found.push(i * step);
  return found;
}

// Powers of ten between low and high, or round numbers where there is at most one.
function logTicks(low, high, count) {
  const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
  if (to - from < 1) {
    const some = ticks(low, high, count).filter((value) => value > 0);
    return some.length ? some : [low];
  }
  const stride = Math.max(1, Math.ceil((to - from + 1) / Math.max(count, 1))), found = [];
  for (let power = from; power <= to; power += stride) found.push(10 ** power);
  return found;
}

// A number with about `digits` digits, with a real minus sign.
function text(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const short = () => String(Number(value.toPrecision(digits)));
  const exponent = () => value.toExponential(Math.max(digits - 2, 0)).replace(/\.?0+e/, "e").replace("e+", "e");
  return (size >= 1e6 || size < 1e-4 ? exponent() : short()).replace(/-/g, "−");
}

// Text cut to a width.
function fitted(context, words, width) {
  if (context.measureText(words).width <= width) return words;
  let end = words.length;
  while (end > 1 && context.measureText(words.slice(0, end) + "…").width > width) end--;
  return words.slice(0, end) + "…";
}

// A straight path of thin lines.
function stroke(context, points) {
  context.lineWidth = 1;
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

// A title along the left side.
function sideTitle(context, words, y) {
  context.save();
  context.translate(9, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(words, 0, 0);
  context.restore();
}

// Lowest and highest of some numbers that an axis can show, never the same.
function extent(values, log) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value) || (log && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (low === high) return log ? [low / 2, low * 2] : [low - 0.5, high + 0.5];
  return [low, high];
}

// A range with a little room at both ends.
function padded([low, high], log) {
  const room = 0.05 * (high - low), factor = log ? (high / low) ** 0.05 : 1;
  return log ? [low / factor, high * factor] : [low - room, high + room];
}

// Numbers to pixels; `back` goes the other way.
function scale([low, high], [from, to], log) {
  const turn = log ? Math.log : (value) => value, back = log ? Math.exp : (value) => value, a = turn(low), b = turn(high);
  const map = (value) => from + ((turn(value) - a) / (b - a)) * (to - from);
  map.back = (pixel) => back(a + ((pixel - from) / (to - from)) * (b - a));
  return map;
}

// Where in an element the pointer is.
function placeIn(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// Bytes of a base64 text.
function bytesOf(base64) {
  const binary = atob(base64), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The small box beside the pointer; lines are [colour or null, words].
function showTip(host, x, y, lines) {
  let tip = host.querySelector(":scope > .tip");
  if (!lines) { if (tip) tip.hidden = true; return; }
  if (!tip) { tip = document.createElement("div"); tip.className = "tip"; host.append(tip); }
  tip.hidden = false;
  tip.replaceChildren(...lines.map(([color, words]) => {
    const line = document.createElement("div");
    if (color) {
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = color;
      line.append(swatch);
    }
    line.append(words);
    return line;
  }));
  const left = x + 14 + tip.offsetWidth > host.clientWidth ? x - 14 - tip.offsetWidth : x + 14;
  tip.style.left = Math.max(0, left) + "px";
  tip.style.top = Math.max(0, y - tip.offsetHeight / 2) + "px";
}
