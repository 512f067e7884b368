// @ts-check
import { colour, make, need, onFile, post, say, stream, upload } from "../../static/explore.js";

const DRAWN_POINTS = 80;
const uPlot = /** @type {any} */ (window).uPlot;
const form = need("ask");
const canvas = /** @type {HTMLCanvasElement} */ (need("drawn"));
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
let file = form.dataset.file || "";
/** @type {any} */
let found = null;
/** @type {Record<string, any>} */
const charts = {};
/** @type {AbortController | null} */
let waiting = null;
/** @type {number[] | null} */
let heights = null;
/** Forecasts asked for; an answer to an earlier question than the last is dropped. */
let asked = 0;
/** The last place that was drawn at, or -1. */
let last = -1;
/** The parts that the user has taken out. @type {Set<string>} */
const left = new Set();

const said = (/** @type {number | null} */ v) => (v === null ? "" : Number(v.toPrecision(5)).toLocaleString("en"));

/** @param {string} id @param {any[]} series @param {any[]} data @param {any} [scales] @param {any} [more] */
function chart(id, series, data, scales = {}, more = {}) {
  charts[id]?.destroy();
  const place = need(id);
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 0.5 }, ticks: { show: false } };
  const dated = data[0].length > 0 && found.labels[0] !== String(data[0][0]) && Math.abs(data[0][0]) > 1e5;
  charts[id] = new uPlot({
    width: place.clientWidth, height: id === "chart" ? 320 : 200, scales: { x: { time: dated }, ...scales },
    axes: [axis, { ...axis, size: 64 }], series: [{ label: "time" }, ...series], ...more,
  }, data, place);
}

/** Marks shifts of level and changes of slope by lines across the chart. @param {any} drawn */
function markChanges(drawn) {
  const { ctx, bbox } = drawn;
  ctx.save();
  ctx.strokeStyle = colour("--bad");
  ctx.setLineDash([6, 4]);
  for (const change of found.changes) {
    if (change.what === "outlier") continue;
    const x = Math.round(drawn.valToPos(found.times[change.at], "x", true)) - 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** The names of the parts that are ticked. @returns {string[]} */
const chosen = () => [...need("parts").querySelectorAll("input:checked")].map((box) => box.value);

/** Says how much of the variance the chosen parts explain. @param {string[]} names @param {(number | null)[]} fit */
function tellShare(names, fit) {
  /** @type {[number, number][]} */
  const pairs = found.observed.map((/** @type {number | null} */ v, /** @type {number} */ i) => [v, fit[i]])
    .filter((/** @type {any} */ pair) => pair[0] !== null && pair[1] !== null);
  const out = Object.keys(found.parts).filter((name) => !names.includes(name));
  const mean = pairs.reduce((sum, [v]) => sum + v, 0) / pairs.length;
  const left = pairs.reduce((sum, [v, f]) => sum + (v - f) ** 2, 0) / pairs.reduce((sum, [v]) => sum + (v - mean) ** 2, 0);
  const without = out.length ? `Without ${out.join(" and ")}, the fit` : "The fit";
  const percent = left < 0.001 ? "over 99.9" : (100 * (1 - left)).toFixed(1);
  const share = left < 1 ? `explains ${percent} % of the variance` : "is worse than the mean of the series";
  need("share").textContent = names.length ? `${without} ${share}.` : "No part is left in the fit.";
}

/** The ends of the vertical axis: those of the series and the median, and as much again of the band on either side.
 * @returns {[number, number]} */
function heightRange() {
  const shown = [...found.observed, ...found.ahead.mean].filter((v) => v !== null);
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const bottom = Math.max(low - (high - low), Math.min(low, ...found.ahead.low));
  const top = Math.min(high + (high - low), Math.max(high, ...found.ahead.high));
  const beyond = [];
  if (Math.min(...found.ahead.low) < bottom) beyond.push(`down to ${said(Math.min(...found.ahead.low))}`);
  if (Math.max(...found.ahead.high) > top) beyond.push(`up to ${said(Math.max(...found.ahead.high))}`);
  need("beyond").textContent = beyond.length ? `The 90 % band goes beyond the chart: ${beyond.join(" and ")}.` : "";
  const margin = 0.03 * (top - bottom || 1);
  return [bottom - margin, top + margin];
}

/** Draws the series, the sum of the chosen parts, and the forecast; below it each part about its mean. */
function draw() {
  const names = chosen();
  const { times, observed, ahead } = found;
  const fit = times.map((/** @type {any} */ _, /** @type {number} */ i) =>
    names.length ? names.reduce((sum, n) => sum + (found.parts[n][i] ?? 0), 0) : null);
  tellShare(names, fit);
  const none = (/** @type {any[]} */ like) => like.map(() => null);
  const odd = new Set(found.changes.filter((/** @type {any} */ c) => c.what === "outlier").map((/** @type {any} */ c) => c.at));
  const marks = observed.map((/** @type {number | null} */ v, /** @type {number} */ i) => (odd.has(i) ? v : null));
  const [ink, fitted, next, wrong] = ["--soft", "--c0", "--c1", "--bad"].map(colour);
  const data = [
    [...times, ...ahead.times], [...observed, ...none(ahead.times)], [...fit, ...none(ahead.times)],
    [...none(times), ...ahead.mean], [...none(times), ...ahead.low], [...none(times), ...ahead.high],
    [...marks, ...none(ahead.times)],
  ];
  chart("chart", [
    { label: "observed", stroke: ink, width: 1, points: { show: times.length < 200, size: 4 } },
    { label: "fit", stroke: fitted, width: 2 }, { label: "median", stroke: next, width: 2 },
    { label: "low", stroke: next, width: 0.5 }, { label: "high", stroke: next, width: 0.5 },
    { label: "does not fit", stroke: wrong, width: 0, points: { show: true, size: 9, fill: wrong } },
  ], data, { y: { range: heightRange() } }, { bands: [{ series: [5, 4], fill: `${next}33` }], hooks: { draw: [markChanges] } });
  const parts = Object.keys(found.parts);
  const means = parts.map((n) => found.parts[n].reduce((/** @type {number} */ s, /** @type {number} */ v) => s + v, 0) / times.length);
  const spread = Math.max(...observed) - Math.min(...observed.filter((/** @type {number | null} */ v) => v !== null));
  const label = (/** @type {string} */ n, /** @type {number} */ i) => (Math.abs(means[i]) < 1e-3 * spread ? n : `${n}, less ${said(means[i])}`);
  chart("each", parts.map((n, i) => (
    { label: label(n, i), stroke: colour(`--c${i % 8}`), width: 1.5, show: names.includes(n) })),
    [times, ...parts.map((n, i) => found.parts[n].map((/** @type {number} */ v) => v - means[i]))]);
}

/** @param {string} head @param {string[]} cells */
function row(head, cells) {
  const line = make("tr");
  line.append(make("th", { scope: "row" }, head), ...cells.map((text) => make("td", { class: "number" }, text)));
  return line;
}

/** Shows the forecast as a table. */
function showAhead() {
  const { ahead } = found;
  need("ahead").replaceChildren(...ahead.labels.map((/** @type {string} */ label, /** @type {number} */ i) =>
    row(label, [ahead.mean[i], ahead.low[i], ahead.high[i]].map(said))));
}

/** Shows all that was found. */
function show() {
  need("sentences").replaceChildren(...found.sentences.map((/** @type {string} */ text) => make("li", {}, text)));
  const names = Object.keys(found.parts);
  need("parts").replaceChildren(make("legend", {}, "Parts in the fit"), ...names.map((name) => {
    const label = make("label");
    const box = make("input", { type: "checkbox", value: name, ...(left.has(name) ? {} : { checked: "" }) });
    label.append(box, ` ${name}`);
    return label;
  }));
  need("choice").hidden = found.series.length < 2;
  need("series").replaceChildren(...found.series.map((/** @type {string} */ name) => make("option", { value: name }, name)));
  need("series").value = found.name;
  need("odd").replaceChildren(
    ...found.changes.map((/** @type {any} */ c) => row(c.label, [c.what, said(c.value), said(c.expected)])),
    ...(found.changes.length ? [] : [row("nothing", ["", "", ""])]));
  const head = make("tr");
  head.append(...["time", "observed", ...names].map((n) => make("th", { scope: "col" }, n)));
  need("whole").replaceChildren(head, ...found.labels.map((/** @type {string} */ label, /** @type {number} */ i) =>
    row(label, [found.observed[i], ...names.map((n) => found.parts[n][i])].map(said))));
  showAhead();
  draw();
}

/** The fields of a question. @returns {Record<string, string>} */
function fields() {
  need("horizon-said").value = need("horizon").value;
  const common = { season: need("season").value || "0", horizon: need("horizon").value, series: need("series").value || "" };
  if (heights) return { ...common, series: "", values: heights.map((h) => h.toFixed(3)).join("\n") };
  return file ? { ...common, file } : { ...common, series: "", values: need("values").value };
}

/** Asks for an explanation, and shows it as it improves; an earlier question is given up. */
async function explain() {
  waiting?.abort();
  const mine = waiting = new AbortController();
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(2)} s`;
  let stage = "";
  say("Explaining ...");
  need("chart").classList.add("busy");
  need("stop").disabled = false;
  try {
    await stream("stream/explain", fields(), (data) => {
      found = data;
      stage = data.said;
      show();
      if (found.ahead.labels.length !== Number(need("horizon").value)) forecast();
      say(`${found.name}: ${stage}, after ${seconds()} ...`);
      need("chart").classList.remove("busy");
    }, mine.signal);
    say(`${found.name}: explained in ${seconds()}.`);
  } catch (error) {
    if (waiting !== mine) return;
    if (mine.signal.aborted) say(stage ? `Stopped: what is shown is ${stage}.` : "Stopped before anything was found.");
    else say(/** @type {Error} */ (error).message, true);
  }
  if (waiting !== mine) return;
  need("chart").classList.remove("busy");
  need("stop").disabled = true;
}

/** Asks for a forecast of another length. */
async function forecast() {
  need("horizon-said").value = need("horizon").value;
  if (!found) return;
  const [mine, shown] = [++asked, found];
  try {
    const ahead = await post("ask/forecast", { explained: shown.explained, horizon: need("horizon").value });
    if (mine !== asked || shown !== found) return;
    Object.assign(found, ahead);
    showAhead();
    draw();
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
}

/** Draws by hand: a height for each of a fixed number of places, those that a fast pen skips on a straight line.
 * @param {PointerEvent} event */
function sketch(event) {
  if (!event.buttons || !heights) return;
  const box = canvas.getBoundingClientRect();
  const at = Math.floor(((event.clientX - box.left) / box.width) * DRAWN_POINTS);
  if (at < 0 || at >= DRAWN_POINTS) return;
  const [from, height] = [last < 0 ? at : last, 100 * (1 - (event.clientY - box.top) / box.height)];
  const begin = last < 0 ? height : heights[from];
  pen.fillStyle = colour("--accent");
  for (let i = from; ; i += Math.sign(at - from)) {
    heights[i] = at === from ? height : begin + ((height - begin) * (i - from)) / (at - from);
    const x = (i / DRAWN_POINTS) * canvas.width;
    pen.clearRect(x, 0, canvas.width / DRAWN_POINTS, canvas.height);
    pen.fillRect(x, canvas.height * (1 - heights[i] / 100) - 2, canvas.width / DRAWN_POINTS, 4);
    if (i === at) break;
  }
  last = at;
}

canvas.addEventListener("pointerdown", (event) => {
  heights = new Array(DRAWN_POINTS).fill(NaN);
  last = -1;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  canvas.setPointerCapture(event.pointerId);
  sketch(event);
});
canvas.addEventListener("pointermove", sketch);
canvas.addEventListener("pointerup", explain);
form.addEventListener("submit", (/** @type {Event} */ event) => { event.preventDefault(); explain(); });
need("values").addEventListener("input", () => { file = ""; heights = null; });
need("series").addEventListener("change", explain);
need("season").addEventListener("change", explain);
need("horizon").addEventListener("input", forecast);
need("parts").addEventListener("change", (/** @type {any} */ event) => {
  if (event.target.checked) left.delete(event.target.value); else left.add(event.target.value);
  draw();
});
need("stop").addEventListener("click", () => waiting?.abort());
onFile(need("file"), need("drop"), async (given) => {
  try {
    file = await upload(given, given.name);
    heights = null;
    need("series").replaceChildren();
    history.replaceState(null, "", `?file=${encodeURIComponent(file)}`);
    explain();
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (found) draw(); });
explain();
