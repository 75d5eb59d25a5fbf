// The values of a chart where somebody points at it, or goes through it with the arrow keys.
"use strict";

for (const figure of document.querySelectorAll("figure.chart")) {
  const {names, rows} = JSON.parse(figure.dataset.stops);
  const svg = figure.querySelector("svg");
  const line = svg.querySelector(".here");
  const said = figure.querySelector("output");
  let at = rows.length;

  const show = (place) => {
    at = Math.max(0, Math.min(rows.length - 1, place));
    const [step, x, ...values] = rows[at];
    const known = names.map((name, index) => [name, values[index]]).filter(([, value]) => value !== null);
    said.textContent = `step ${step.toLocaleString("en-US")}: ${known.map((pair) => pair.join(" ")).join(", ")}`;
    line.setAttribute("transform", `translate(${x})`);
    figure.classList.add("pointed");
  };
  const leave = () => {
    said.textContent = "";
    figure.classList.remove("pointed");
  };
  svg.addEventListener("pointermove", (event) => {
    const x = (event.offsetX * svg.viewBox.baseVal.width) / svg.clientWidth;
    const far = rows.map((row) => Math.abs(row[1] - x));
    show(far.indexOf(Math.min(...far)));
  });
  svg.addEventListener("keydown", (event) => {
    const next = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1}[event.key];
    if (next !== undefined) {
      event.preventDefault();
      show(next);
    }
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
}
