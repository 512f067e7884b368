// @ts-check
import { make, need, say } from "../../static/explore.js";
import { posterior, summaries } from "./posterior.mjs";

const MOST_POINTS = 9;
const SHOWN = 6;
const EDGE = 2.8;
const STEP = 0.1;
const SVG = "http://www.w3.org/2000/svg";
const EXAMPLE = [[-1.6, 1.1], [-1.3, 0.8], [-1.7, 0.6], [1.2, 0.9], [1.5, 0.6], [0.1, -1.4], [0.6, -0.4]];
const plane = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (need("plane")));
let points = read();
/** @type {number | null} */
let dragged = null;

/** The points that the address names, or the example. @returns {number[][]} */
function read() {
  const given = decodeURIComponent(location.hash.slice(1)).split(";").map((pair) => pair.split(",").map(Number));
  const good = given.filter((p) => p.length === 2 && p.every((v) => Number.isFinite(v) && Math.abs(v) <= 3));
  return good.length ? good.slice(0, MOST_POINTS) : EXAMPLE.map((p) => [...p]);
}

/** @param {string} tag @param {Record<string, string | number>} attributes */
function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** Draws the points in the colours of a clustering. @param {number[]} labels */
function draw(labels) {
  const kept = /** @type {SVGElement[]} */ ([...plane.querySelectorAll("g")]);
  points.forEach(([x, y], j) => {
    const group = kept[j] || plane.appendChild(shape("g", { tabindex: 0, role: "button" }));
    group.setAttribute("aria-label", `point ${j + 1} at ${x.toFixed(1)}, ${y.toFixed(1)}, cluster ${labels[j] + 1}`);
    group.setAttribute("data-point", String(j));
    const dot = shape("circle", { cx: x, cy: -y, r: 0.17, class: `fill${labels[j] % 8}` });
    const number = shape("text", { x, y: -y + 0.07, "text-anchor": "middle", "font-size": 0.2, class: "on" });
    number.textContent = String(j + 1);
    group.replaceChildren(dot, number);
  });
  kept.slice(points.length).forEach((group) => group.remove());
}

/** A small picture of a clustering. @param {number[]} labels */
function picture(labels) {
  const small = shape("svg", { viewBox: "-3 -3 6 6", width: 110, height: 110, "aria-hidden": "true" });
  points.forEach(([x, y], j) => small.append(shape("circle", { cx: x, cy: -y, r: 0.28, class: `fill${labels[j] % 8}` })));
  return small;
}

/** Clusters in words, such as 1 2 3 | 4 5. @param {number[]} labels */
function words(labels) {
  const clusters = Array.from({ length: Math.max(...labels) + 1 }, () => /** @type {number[]} */ ([]));
  labels.forEach((label, j) => clusters[label].push(j + 1));
  return clusters.map((c) => c.join(" ")).join(" | ");
}

const percent = (/** @type {number} */ p) => `${(100 * p).toFixed(p < 0.095 ? 1 : 0)} %`;

/** @param {...(Element | string)} cells */
function row(...cells) {
  const made = make("tr");
  cells.forEach((cell, i) => {
    const place = make(i ? "td" : "th", i ? { class: "number" } : { scope: "row" });
    place.append(cell);
    made.append(place);
  });
  return made;
}

/** Computes the posterior and shows all of it. */
function update() {
  const variance = 10 ** Number(need("variance").value);
  const alpha = 10 ** Number(need("alpha").value);
  need("variance-said").value = variance.toPrecision(2);
  need("alpha-said").value = alpha.toPrecision(2);
  const start = performance.now();
  const { clusterings, logEvidence } = posterior(points, variance, alpha);
  const { together, counts } = summaries(clusterings, points.length);
  draw(clusterings[0].labels);
  const best = clusterings.slice(0, SHOWN);
  need("best").replaceChildren(...best.map((each) => {
    const item = make("li");
    item.append(picture(each.labels), make("div", {}, percent(each.probability)));
    return item;
  }));
  need("clusterings").replaceChildren(...best.map((each) =>
    row(words(each.labels), percent(each.probability), each.logJoint.toFixed(2))));
  need("counts").replaceChildren(...counts.flatMap((p, k) => {
    if (k === 0) return [];
    const meter = make("meter", { min: "0", max: "1", value: p.toFixed(4), "aria-label": `${k} clusters` });
    const cell = make("span");
    cell.append(meter, ` ${percent(p)}`);
    return [row(String(k), cell)];
  }));
  const head = make("tr");
  head.append(make("td"), ...points.map((_, j) => make("th", { scope: "col", class: "number" }, String(j + 1))));
  need("together").replaceChildren(head, ...together.map((line, i) => row(String(i + 1), ...line.map(percent))));
  const took = Math.max(performance.now() - start, 0.1).toFixed(1);
  say(`All ${clusterings.length.toLocaleString("en")} clusterings in ${took} ms; log p(x) = ${logEvidence.toFixed(2)}.`);
  need("add").disabled = points.length >= MOST_POINTS;
  need("remove").disabled = points.length <= 2;
  history.replaceState(null, "", `#${points.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(";")}`);
}

/** Moves a point, inside the plane. @param {number} j @param {number} x @param {number} y */
function move(j, x, y) {
  points[j] = [x, y].map((v) => Math.min(EDGE, Math.max(-EDGE, v)));
  update();
}

plane.addEventListener("pointerdown", (event) => {
  const group = /** @type {Element} */ (event.target).closest("g");
  if (!group) return;
  dragged = Number(group.getAttribute("data-point"));
  plane.setPointerCapture(event.pointerId);
});
plane.addEventListener("pointermove", (event) => {
  if (dragged === null) return;
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(plane.getScreenCTM()?.inverse());
  move(dragged, place.x, -place.y);
});
for (const name of ["pointerup", "pointercancel"]) plane.addEventListener(name, () => { dragged = null; });
plane.addEventListener("keydown", (event) => {
  const group = /** @type {Element} */ (event.target).closest("g");
  const ways = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
  const way = ways[/** @type {keyof typeof ways} */ (event.key)];
  if (!group || !way) return;
  event.preventDefault();
  const j = Number(group.getAttribute("data-point"));
  move(j, points[j][0] + way[0], points[j][1] + way[1]);
});
for (const id of ["variance", "alpha"]) need(id).addEventListener("input", update);
need("add").addEventListener("click", () => {
  points.push([(Math.random() - 0.5) * 4, (Math.random() - 0.5) * 4]);
  update();
});
need("remove").addEventListener("click", () => { points.pop(); update(); });
need("example").addEventListener("click", () => { points = EXAMPLE.map((p) => [...p]); update(); });
update();
