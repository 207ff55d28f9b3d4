// The cards of the sources: their pictures, and accepting and rejecting by mouse and keyboard.

function drawStretch(canvas, card, color, rate) {
  const paper = surface(canvas), { context, width, height } = paper, bytes = bytesOf(card.samples);
  const values = new Int16Array(bytes.buffer), n = values.length;
  const [low, high] = extent(Array.from(values).filter((value) => value !== MISSING));
  const bottom = height - 18, y = scale([low, high], [bottom - 4, 6]), x = (i) => 2 + (i / Math.max(n - 1, 1)) * (width - 4);
  const period = rate ? 1 / rate : 1, first = card.start * period;
  context.textBaseline = "middle"; context.textAlign = "center";
  for (const mark of ticks(first, first + (n - 1) * period, width / 90)) {
    const px = x((mark - first) / period);
    context.strokeStyle = paper.grid; stroke(context, [[px, 2], [px, bottom]]);
    context.fillStyle = paper.quiet;
    const words = text(mark, 6) + (rate ? " s" : ""), half = context.measureText(words).width / 2;
    context.fillText(words, Math.min(Math.max(px, half), width - half), height - 8);
  }
  context.strokeStyle = shade(color); context.lineWidth = 1.3; context.beginPath();
  for (let i = 0, open = false; i < n; i++) {
    if (values[i] === MISSING) { open = false; continue; }
    if (open) context.lineTo(x(i), y(values[i])); else context.moveTo(x(i), y(values[i]));
    open = true;
  }
  context.stroke();
}

function drawSpectrum(canvas, decibels, color, { resolution, highest }, rate) {
  const paper = surface(canvas), { context, width, height } = paper, bottom = height - 18;
  context.textBaseline = "middle"; context.textAlign = "center"; context.fillStyle = paper.quiet;
  if (!decibels) return context.fillText("no spectrum", width / 2, height / 2);
  const shown = decibels.slice(0, Math.ceil(highest / resolution)), [low, high] = extent(shown);
  const x = scale([0, highest], [2, width - 2]), y = scale([Math.max(low, high - 80), high], [bottom - 3, 5]);
  const room = context.measureText(text(highest) + " Hz").width + 16;
  for (const mark of ticks(0, highest, width / room)) {
    context.strokeStyle = paper.grid; stroke(context, [[x(mark), 2], [x(mark), bottom]]);
    const words = text(mark) + (rate && mark > 0 ? " Hz" : ""), half = context.measureText(words).width / 2;
    context.fillText(words, Math.min(Math.max(x(mark), half), width - half), height - 8);
  }
  context.save(); context.beginPath(); context.rect(0, 0, width, bottom); context.clip();
  context.strokeStyle = shade(color); context.lineWidth = 1.3; context.beginPath();
  shown.forEach((value, i) => context.lineTo(x((i + 1) * resolution), y(value)));
  context.stroke(); context.restore();
}

function startCards(recording, decisions, explore) {
  const data = readData("cards"), list = document.querySelector(".cards"), cards = [...list.querySelectorAll(".card")];
  cards.forEach((card, k) => {
    const { color } = recording.series[k], own = data.cards[k], canvas = (name) => card.querySelector(`.${name} canvas`);
    const stretch = canvas("stretch"), spectrum = canvas("spectrum"), where = canvas("where");
    drawn(stretch, () => drawStretch(stretch, own, color, recording.rate));
    drawn(spectrum, () => drawSpectrum(spectrum, own.spectrum, color, data, recording.rate));
    drawn(where, () => {
      if (data.places) drawHead(where, own.weights, data.places);
      else drawWeights(where, own.weights, data.channels, color);
    });
    card.querySelector(".toggle").addEventListener("click", () => { focusCard(k, false); decisions.toggle(k); });
    card.querySelector(".explore").addEventListener("click", () => explore(k, own.start, data.length));
    card.addEventListener("focusin", () => focusCard(k, false));
  });

  // One card at a time can be reached by the Tab key; arrows go from card to card, in the order shown.
  function focusCard(k, move = true) {
    cards.forEach((card, other) => {
      card.tabIndex = other === k ? 0 : -1;
      for (const button of card.querySelectorAll("button")) button.tabIndex = other === k ? 0 : -1;
    });
    if (move) { cards[k].focus({ preventScroll: true }); cards[k].scrollIntoView({ block: "nearest" }); }
  }
  list.addEventListener("keydown", (event) => {
    const card = event.target.closest(".card");
    if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = [...list.querySelectorAll(".card")], at = shown.indexOf(card), k = cards.indexOf(card);
    const onButton = event.target !== card, last = shown.length - 1;
    const go = (place) => focusCard(cards.indexOf(shown[Math.min(Math.max(place, 0), last)]));
    const actions = {
      ArrowRight: () => go(at + 1), ArrowDown: () => go(at + 1), ArrowLeft: () => go(at - 1), ArrowUp: () => go(at - 1),
      Home: () => go(0), End: () => go(last), r: () => decisions.set(k, true), a: () => decisions.set(k, false),
      // On a button the space bar presses it.
      " ": onButton ? null : () => decisions.toggle(k),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) { event.preventDefault(); action(); }
  });
  document.querySelector(".sort").addEventListener("change", (event) => {
    const by = event.target.value, order = cards.map((card, k) => ({ card, k, value: Number(card.dataset[by]) || 0 }));
    order.sort((a, b) => (by === "share" ? b.value - a.value : a.value - b.value) || a.k - b.k);
    list.append(...order.map(({ card }) => card));
  });

  const show = () => cards.forEach((card, k) => {
    const rejected = decisions.rejected.has(k), button = card.querySelector(".toggle");
    card.classList.toggle("rejected", rejected);
    button.textContent = rejected ? "✕ Rejected" : "✓ Kept";
    button.setAttribute("aria-pressed", String(rejected));
  });
  decisions.listeners.push(show);
  show();
  focusCard(0, false);
}
