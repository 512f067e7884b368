// @ts-check
import { colour, make, need, say } from "../../static/explore.js";
import { PATTERNS, count, grow, next, posterior } from "./rules.mjs";

const HEIGHT = 24;
const SHOWN = 6;
const canvas = /** @type {HTMLCanvasElement} */ (need("cells"));
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
let rule = Number(new URLSearchParams(location.hash.slice(1)).get("rule") ?? 110) & 255;
/** @type {Uint8Array[]} */
let columns = [];
let cursor = { i: 0, t: 0 };
/** @type {Set<string> | null} */
let painted = null;

const width = () => Number(need("columns").value);
const percent = (/** @type {number} */ p) => `${(100 * p).toFixed(p > 0.0995 && p < 0.995 ? 0 : 1)} %`;
const spelled = (/** @type {number} */ number) => number.toString(2).padStart(PATTERNS, "0");

/** Grows a new image. */
function regrow() {
  const first = Uint8Array.from({ length: HEIGHT }, () => (Math.random() < 0.5 ? 1 : 0));
  const noise = Number(need("noise").value);
  columns = grow(rule, first, width(), () => Math.random() < noise);
  update();
}

/** Draws the image; cells that a rule does not explain are red. @param {number} best */
function draw(best) {
  const size = canvas.width / columns.length;
  const high = canvas.height / HEIGHT;
  const [ink, paper, wrong, line] = ["--ink", "--paper", "--bad", "--accent"].map(colour);
  pen.fillStyle = paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  columns.forEach((column, t) => {
    const said = t ? next(best, columns[t - 1]) : column;
    column.forEach((cell, i) => {
      const off = said[i] !== cell;
      if (!cell && !off) return;
      pen.fillStyle = off ? wrong : ink;
      pen.globalAlpha = cell ? 1 : 0.35;
      pen.fillRect(t * size, i * high, size - 0.5, high - 0.5);
      pen.globalAlpha = 1;
    });
  });
  if (document.activeElement === canvas) {
    pen.strokeStyle = line;
    pen.lineWidth = 2;
    pen.strokeRect(cursor.t * size, cursor.i * high, size, high);
  }
}

/** Shows the bits of the rule as buttons. */
function showRule() {
  need("number").value = String(rule);
  const buttons = [...Array(PATTERNS).keys()].reverse().map((n) => {
    const bit = (rule >> n) & 1;
    const pattern = n.toString(2).padStart(3, "0");
    const button = make("button", { type: "button", "aria-pressed": String(bit === 1), "data-bit": String(n) },
      `${pattern} → ${bit}`);
    button.className = bit ? "mono main" : "mono";
    return button;
  });
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.bit;
  need("bits").replaceChildren(...buttons);
  if (focused !== undefined) need("bits").querySelector(`[data-bit="${focused}"]`)?.focus();
  history.replaceState(null, "", `#rule=${rule}`);
}

/** @param {string} name @param {number} p */
function meter(name, p) {
  const cell = make("td");
  cell.append(make("meter", { min: "0", max: "1", value: p.toFixed(4), "aria-label": name }), ` ${percent(p)}`);
  return cell;
}

/** Computes the posterior and shows all of it. */
function update() {
  const assumed = Number(need("assumed").value);
  const counts = count(columns);
  const { rules, bits } = posterior(counts, assumed, HEIGHT);
  for (const id of ["noise", "assumed"]) need(`${id}-said`).value = percent(Number(need(id).value));
  need("columns-said").value = String(width());
  need("rules").replaceChildren(...rules.slice(0, SHOWN).map((each) => {
    const line = make("tr");
    line.append(make("th", { scope: "row" }, String(each.rule)), meter(`rule ${each.rule}`, each.probability),
      make("td", { class: "mono" }, spelled(each.rule)), make("td", { class: "number" }, each.logLikelihood.toFixed(1)));
    return line;
  }));
  need("evidence").replaceChildren(...[...Array(PATTERNS).keys()].reverse().map((n) => {
    const line = make("tr");
    const pattern = n.toString(2).padStart(3, "0");
    line.append(make("th", { scope: "row", class: "mono" }, pattern),
      ...counts[n].map((c) => make("td", { class: "number" }, String(c))), meter(`bit ${pattern}`, bits[n]));
    return line;
  }));
  const place = rules.findIndex((each) => each.rule === rule);
  say(`Rule ${rule}, which grew this, has ${percent(rules[place].probability)}` +
    `${place ? ` and is number ${place + 1}` : " and is the first"} of 256.`);
  draw(rules[0].rule);
}

/** Flips a cell. @param {number} i @param {number} t */
function flip(i, t) {
  if (i >= 0 && i < HEIGHT && t >= 0 && t < columns.length) columns[t][i] ^= 1;
}

/** Flips the cell under the pointer, once for each stroke. @param {PointerEvent} event */
function paint(event) {
  if (!painted) return;
  const box = canvas.getBoundingClientRect();
  const t = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
  const i = Math.floor(((event.clientY - box.top) / box.height) * HEIGHT);
  if (painted.has(`${i},${t}`)) return;
  painted.add(`${i},${t}`);
  flip(i, t);
  update();
}

canvas.addEventListener("pointerdown", (event) => {
  painted = new Set();
  canvas.setPointerCapture(event.pointerId);
  paint(event);
});
canvas.addEventListener("pointermove", paint);
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { painted = null; });
canvas.addEventListener("keydown", (event) => {
  const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const way = ways[/** @type {keyof typeof ways} */ (event.key)];
  if (way) {
    cursor.i = (cursor.i + way[0] + HEIGHT) % HEIGHT;
    cursor.t = (cursor.t + way[1] + columns.length) % columns.length;
  } else if (event.key === " ") {
    flip(cursor.i, cursor.t);
  } else {
    return;
  }
  event.preventDefault();
  update();
});
for (const name of ["focus", "blur"]) canvas.addEventListener(name, update);
need("bits").addEventListener("click", (/** @type {Event} */ event) => {
  const bit = /** @type {HTMLElement} */ (event.target).dataset.bit;
  if (bit === undefined) return;
  rule ^= 1 << Number(bit);
  showRule();
  regrow();
});
need("number").addEventListener("change", () => {
  rule = Math.min(255, Math.max(0, Math.round(Number(need("number").value)) || 0));
  showRule();
  regrow();
});
need("assumed").addEventListener("input", update);
for (const id of ["noise", "columns"]) need(id).addEventListener("input", regrow);
need("again").addEventListener("click", regrow);
need("ten").addEventListener("click", () => {
  for (let k = 0; k < 10; k++) flip(Math.floor(Math.random() * HEIGHT), Math.floor(Math.random() * columns.length));
  update();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
showRule();
regrow();
