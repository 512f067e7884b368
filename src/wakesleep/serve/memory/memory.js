// @ts-check
import { ask, colour, make, need, say } from "../../static/explore.js";

/** @typedef {{ program: string, q: number, since: number, by: string }} Remembered */
/** @typedef {{ step: number, programs: Remembered[] }} Look */
const REFRESH_MS = 2000;
const PLAY_MS = 250;
const MOST_LINES = 8;
const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];
const uPlot = /** @type {any} */ (window).uPlot;
/** @type {Look[]} */
let looks = [];
/** @type {Record<string, any>} */
const charts = {};
let playing = 0;

/** Draws lines over the steps. @param {string} id @param {number[]} steps
 * @param {{ name: string, values: (number | null)[] }[]} lines @param {boolean} bars */
function chart(id, steps, lines, bars) {
  charts[id]?.destroy();
  const place = need(id);
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 0.5 }, ticks: { show: false } };
  const series = lines.map((line, i) => ({
    label: line.name.length > 40 ? `${line.name.slice(0, 39)}…` : line.name,
    stroke: colour(COLOURS[i % COLOURS.length]), width: 2, spanGaps: true,
    ...(bars ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
  }));
  const options = {
    width: place.clientWidth, height: 260, scales: { x: { time: false }, ...(bars ? { y: { range: [0, 1] } } : {}) },
    axes: [axis, { ...axis, size: 60 }], series: [{ label: "step" }, ...series],
  };
  charts[id] = new uPlot(options, [steps, ...lines.map((line) => line.values)], place);
}

/** Shows the bounds of all runs. */
async function showBounds() {
  const { runs } = await ask("ask/curves");
  const steps = [...new Set(runs.flatMap((/** @type {any} */ r) => r.steps))].sort((a, b) => a - b);
  const lines = runs.map((/** @type {any} */ r) => {
    const at = new Map(r.steps.map((/** @type {number} */ s, /** @type {number} */ i) => [s, r.bound[i]]));
    return { name: r.name, values: steps.map((s) => at.get(s) ?? null) };
  });
  if (steps.length) chart("bounds", steps, lines, false);
  const options = need("run").options;
  need("last").replaceChildren(...runs.map((/** @type {any} */ r, /** @type {number} */ i) => {
    const line = make("tr");
    const end = r.steps.length - 1;
    const said = (/** @type {(number | null)[]} */ values) => values[end]?.toFixed(3) ?? "-";
    line.append(make("th", { scope: "row" }, r.name), make("td", {}, options[i].dataset.algorithm),
      ...[end < 0 ? "-" : r.steps[end].toLocaleString("en"), said(r.bound), said(r.novel)].map((text) =>
        make("td", { class: "number" }, text)));
    return line;
  }));
}

/** Reads what is remembered for the chosen observation. */
async function showRow() {
  const row = need("row").value || "0";
  const found = await ask(`ask/remembered?run=${need("run").value}&row=${encodeURIComponent(row)}`);
  const stayed = Number(need("step").value) === Number(need("step").max);
  if (need("row").options.length !== found.rows.length) {
    need("row").replaceChildren(...found.rows.map((/** @type {number} */ r) =>
      make("option", { value: String(r) }, found.names[r] ? `${r}: ${found.names[r]}` : String(r))));
    if (found.rows.includes(Number(row))) need("row").value = row;
  }
  looks = found.looks;
  need("step").max = String(Math.max(looks.length - 1, 0));
  if (stayed) need("step").value = need("step").max;
  say(found.note);
  showLook();
  showLines();
  showPhases();
}

/** Shows the programs at the chosen look. */
function showLook() {
  const look = looks[Number(need("step").value)];
  need("step-said").value = look ? look.step.toLocaleString("en") : "-";
  const programs = look ? [...look.programs].sort((a, b) => b.q - a.q) : [];
  need("programs").replaceChildren(...programs.map((p) => {
    const line = make("tr");
    const cell = make("td");
    cell.append(make("meter", { min: "0", max: "1", value: p.q.toFixed(4), "aria-label": "Q" }), ` ${(100 * p.q).toFixed(1)} %`);
    const code = make("td");
    code.append(make("code", {}, p.program));
    line.append(cell, code, make("td", { class: "number" }, Number(p.since).toLocaleString("en")), make("td", {}, p.by));
    return line;
  }));
}

/** Draws Q of the programs that were the most probable over all looks. */
function showLines() {
  if (looks.length < 2) { charts.q?.destroy(); delete charts.q; return; }
  /** @type {Map<string, number>} */
  const mass = new Map();
  for (const look of looks) for (const p of look.programs) mass.set(p.program, (mass.get(p.program) || 0) + p.q);
  const best = [...mass].sort((a, b) => b[1] - a[1]).slice(0, MOST_LINES).map(([name]) => name);
  const lines = best.map((name) => (
    { name, values: looks.map((look) => look.programs.find((p) => p.program === name)?.q ?? 0) }));
  chart("q", looks.map((look) => look.step), lines, true);
}

/** Counts the programs by what found them. */
function showPhases() {
  /** @type {Map<string, string>} */
  const ever = new Map();
  for (const look of looks) for (const p of look.programs) ever.set(p.program, p.by);
  const last = looks.length ? looks[looks.length - 1].programs : [];
  need("phases").replaceChildren(...[...new Set(ever.values())].sort().map((by) => {
    const line = make("tr");
    const counts = [[...ever.values()].filter((each) => each === by).length, last.filter((p) => p.by === by).length];
    line.append(make("th", { scope: "row" }, by), ...counts.map((n) => make("td", { class: "number" }, String(n))));
    return line;
  }));
}

/** Steps through the looks, or stops doing so. */
function play() {
  const step = need("step");
  if (playing) { clearInterval(playing); playing = 0; need("play").textContent = "Play"; return; }
  if (step.value === step.max) step.value = "0";
  need("play").textContent = "Stop";
  playing = window.setInterval(() => {
    step.value = String(Number(step.value) + 1);
    showLook();
    if (step.value === step.max) play();
  }, PLAY_MS);
}

/** Does something that asks the server, and says what went wrong. @param {() => Promise<void>} work */
async function tried(work) {
  try {
    await work();
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
}

if (Number(need("memory").dataset.runs)) {
  need("run").addEventListener("change", () => { need("row").replaceChildren(); tried(showRow); });
  need("row").addEventListener("change", () => tried(showRow));
  need("step").addEventListener("input", showLook);
  need("play").addEventListener("click", play);
  tried(async () => { await showBounds(); await showRow(); });
  setInterval(() => {
    if (!document.hidden && !playing) tried(async () => { await showBounds(); await showRow(); });
  }, REFRESH_MS);
}
