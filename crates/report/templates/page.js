"use strict";
// Draws every chart from the specification that follows it. Colours are the style sheet's business.
const charts = [...document.querySelectorAll(".chart")];
const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
for (const chart of charts) {
  const spec = JSON.parse(chart.closest("figure").querySelector("script").textContent);
  Plotly.newPlot(chart, spec.data, spec.layout, config);
}
// Paper is narrower than the window. Plotly's own resizing waits for a moment that printing does not grant.
matchMedia("print").addEventListener("change", (event) => {
  for (const chart of charts) Plotly.relayout(chart, event.matches ? { width: chart.clientWidth } : { autosize: true });
});
