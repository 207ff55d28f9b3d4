// Playing a source, where the rate is that of a sound: from the samples in the page, at nine tenths of full loudness.

// Rates that every browser plays; others are interpolated linearly.
const LOWEST_RATE = 8000, HIGHEST_RATE = 96000;

// The sound of a series; silence where samples are missing.
function soundOf(context, values, rate) {
  let largest = 1;
  for (const value of values) if (!isMissing(value)) largest = Math.max(largest, Math.abs(value));
  const loudness = (i) => (i >= values.length || isMissing(values[i]) ? 0 : (0.9 * values[i]) / largest);
  const played = Math.min(Math.max(rate, LOWEST_RATE), HIGHEST_RATE), n = Math.ceil((values.length * played) / rate);
  const buffer = context.createBuffer(1, n, played), channel = buffer.getChannelData(0);
  for (let i = 0; i < n; i++) {
    const place = (i * rate) / played, before = Math.floor(place), share = place - before;
    channel[i] = (1 - share) * loudness(before) + (share ? share * loudness(before + 1) : 0);
  }
  return buffer;
}

function startAudio(recording, samples) {
  let context = null, playing = null;
  const stop = () => {
    if (!playing) return;
    const { node, button } = playing;
    playing = null;
    node.onended = null;
    node.stop();
    button.textContent = "▶ Play";
    button.setAttribute("aria-pressed", "false");
  };
  const play = (k, button) => {
    const series = samples.get(k, () => play(k, button));
    if (!series) return;
    context = context || new AudioContext();
    const node = context.createBufferSource();
    node.buffer = soundOf(context, series.levels[0].low, recording.rate);
    node.connect(context.destination);
    node.onended = stop;
    node.start();
    playing = { node, button };
    button.textContent = "■ Stop";
    button.setAttribute("aria-pressed", "true");
  };
  document.querySelectorAll(".card .play").forEach((button) => button.addEventListener("click", () => {
    const again = playing && playing.button === button;
    stop();
    if (!again) play(Number(button.closest(".card").dataset.number), button);
  }));
}
