// Where in the channels a source is: a map of the head where the places of electrodes are known, else bars.

// Smooth interpolation between electrodes: each counts by the inverse cube of its distance, near ones alike.
function interpolated(known, x, y) {
  let sum = 0, weights = 0;
  for (const { place, weight } of known) {
    const squared = (place[0] - x) ** 2 + (place[1] - y) ** 2 + 0.012, share = squared ** -1.5;
    sum += share * weight;
    weights += share;
  }
  return sum / weights;
}

function drawHead(canvas, weights, places) {
  const paper = surface(canvas), { context, width, height } = paper;
  const known = places.map((place, c) => ({ place, weight: weights[c] })).filter(({ place, weight }) => place && weight !== null);
  const most = Math.max(...weights.map((weight) => Math.abs(weight || 0)), 1e-12);
  const radius = Math.min(width, height - 14) / 2 / 1.04, middle = [width / 2, height / 2 + 5];
  const cell = Math.max(radius / 26, 1.5);
  for (let px = -radius; px < radius; px += cell) for (let py = -radius; py < radius; py += cell) {
    const x = (px + cell / 2) / radius, y = -(py + cell / 2) / radius;
    if (x * x + y * y > 1) continue;
    context.fillStyle = ramp(DIVERGING, 0.5 + interpolated(known, x, y) / most / 2);
    context.fillRect(middle[0] + px, middle[1] + py, cell + 0.6, cell + 0.6);
  }
  const [x, y] = middle, top = y - radius;
  context.strokeStyle = paper.quiet;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  stroke(context, [[x - 7, top + 1], [x, top - 8], [x + 7, top + 1]]);
  context.fillStyle = "#1b1f24";
  for (const { place } of known) {
    context.beginPath();
    context.arc(middle[0] + place[0] * radius, middle[1] - place[1] * radius, 1.3, 0, 7);
    context.fill();
  }
}

function drawWeights(canvas, weights, channels, color) {
  const paper = surface(canvas), { context, width, height } = paper, n = weights.length;
  const most = Math.max(...weights.map((weight) => Math.abs(weight || 0)), 1e-12);
  const named = n * 13 <= width, bottom = height - 14, zero = bottom / 2, wide = width / n;
  context.strokeStyle = paper.rule; stroke(context, [[0, zero], [width, zero]]);
  context.fillStyle = shade(color);
  weights.forEach((weight, c) => {
    if (weight === null) return;
    const tall = (Math.abs(weight) / most) * (zero - 3);
    context.fillRect((c + 0.12) * wide, weight < 0 ? zero : zero - tall, Math.max(0.76 * wide, 0.7), tall);
  });
  Object.assign(context, { fillStyle: paper.quiet, textBaseline: "middle", textAlign: "center" });
  context.font = "10px " + context.font.split("px ")[1];
  if (named) channels.forEach((name, c) => context.fillText(fitted(context, name, wide - 1), (c + 0.5) * wide, height - 6));
  else context.fillText(`${n} channels`, width / 2, height - 6);
}
