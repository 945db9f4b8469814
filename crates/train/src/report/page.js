
"use strict";
const charts = JSON.parse(document.getElementById("data").textContent);

const shown = (value) => value === null ? "not finite" : String(Number(value.toPrecision(5)));

// The point whose step is nearest; points are in the order of their steps.
function nearest(points, step) {
  let low = 0, high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < step) low = middle; else high = middle;
  }
  return Math.abs(points[low][0] - step) <= Math.abs(points[high][0] - step) ? points[low] : points[high];
}

for (const [id, chart] of Object.entries(charts)) {
  const plot = document.querySelector("#" + id + " .plot");
  const svg = plot.querySelector("svg");
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y1", chart.top);
  cursor.setAttribute("y2", chart.bottom);
  const tip = document.createElement("div");
  tip.className = "tip";
  const hide = () => { cursor.remove(); tip.remove(); };
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * chart.width;
    const part = Math.min(1, Math.max(0, (at - chart.left) / (chart.right - chart.left)));
    const dense = chart.series.reduce((a, b) => b.points.length > a.points.length ? b : a);
    const step = nearest(dense.points, chart.low + part * (chart.high - chart.low))[0];
    const x = chart.left + (step - chart.low) / (chart.high - chart.low) * (chart.right - chart.left);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    svg.append(cursor);
    tip.replaceChildren();
    const line = (...parts) => { const row = document.createElement("div"); row.append(...parts); tip.append(row); };
    const element = (name, text, style) => {
      const made = document.createElement(name);
      made.textContent = text;
      if (style) made.className = style;
      return made;
    };
    line(element("span", "step " + step.toLocaleString("en")));
    for (const series of chart.series) {
      const [where, value] = nearest(series.points, step);
      const name = series.name + (where === step ? "" : " at " + where.toLocaleString("en"));
      line(element("i", "", series.class), element("b", shown(value)), " ", element("span", name));
    }
    plot.append(tip);
    const left = x / chart.width * box.width;
    const room = box.width - left - tip.offsetWidth - 12;
    tip.style.left = (room >= 0 ? left + 12 : Math.max(0, left - tip.offsetWidth - 12)) + "px";
  };
  plot.addEventListener("pointermove", show);
  plot.addEventListener("pointerdown", show);
  plot.addEventListener("pointerleave", hide);
}

const filter = document.getElementById("filter");
filter?.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const row of document.querySelectorAll("#settings tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
