// Starts what is on the page: charts when they can be seen, sections when they are opened, and the tools of a run.

const makers = { lines: CurveChart, rows: CurveChart, heat: HeatChart, bars: BarChart };
for (const host of document.querySelectorAll(".chart")) {
  const canvas = document.createElement("canvas");
  host.append(canvas);
  let made = false;
  const make = () => {
    if (made || !host.clientWidth) return;
    made = true;
    const spec = JSON.parse(host.closest("figure").querySelector("script").textContent);
    new makers[spec.kind](host, canvas, spec);
    host.dataset.drawn = spec.kind;
  };
  // A closed section has no size: its charts are made when it is opened.
  const fold = host.closest("details");
  if (fold) fold.addEventListener("toggle", make);
  make();
}
// A link to a section opens it.
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.querySelector(":scope > details");
  if (fold) fold.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();
const tools = typeof startSources === "function" ? startSources() : null;
