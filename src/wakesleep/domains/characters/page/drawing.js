// @ts-check
import { follow, make, need, onFile, post, say, upload } from "../../static/explore.js";

const PLAY_MS = 200;
const PEN_WIDTH = 14;
const LEAST_STYLE_DRAWINGS = 3;
const MOST_STYLE_DRAWINGS = 30;
const paper = /** @type {HTMLCanvasElement} */ (need("paper"));
const pen = /** @type {CanvasRenderingContext2D} */ (paper.getContext("2d"));
const still = matchMedia("(prefers-reduced-motion: reduce)");
let file = need("ask").dataset.file || "";
let drawn = false;
let seed = 0;
/** The drawings explained on this page, the last one last. @type {string[]} */
const explained = [];
/** Whether what is explained next is another drawing, not the last one with more strokes. */
let another = true;
let stop = () => {};
/** @type {{ png: string, remaining: number }[]} */
let frames = [];
let playing = 0;

/** Makes the paper white. */
function clear() {
  pen.fillStyle = "white";
  pen.fillRect(0, 0, paper.width, paper.height);
  drawn = false;
}

/** @param {PointerEvent} event */
function place(event) {
  const box = paper.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * paper.width, ((event.clientY - box.top) / box.height) * paper.height];
}

/** Shows the drawing after some steps of the pen. @param {number} number */
function showFrame(number) {
  need("frame").src = `data:image/png;base64,${frames[number].png}`;
  need("frame").alt = `The drawing after ${number} steps of the pen`;
  need("stroke").value = String(number);
  need("stroke-said").value = `${number} of ${frames.length - 1}`;
  need("remaining").textContent = `${(100 * frames[number].remaining).toFixed(0)} % of the ink remains`;
}

/** Replays the strokes, or shows the last at once where motion is not wanted. */
function play() {
  clearInterval(playing);
  if (still.matches) { showFrame(frames.length - 1); return; }
  let next = 0;
  showFrame(0);
  playing = window.setInterval(() => {
    next += 1;
    if (next >= frames.length) clearInterval(playing);
    else showFrame(next);
  }, PLAY_MS);
}

/** Shows programs and strokes. @param {any} found */
function show(found) {
  frames = found.frames;
  explained.splice(another ? explained.length : -1, 1, found.explained);
  another = false;
  need("like").disabled = false;
  need("own").disabled = explained.length < LEAST_STYLE_DRAWINGS;
  need("own").textContent = `your drawings (${explained.length}${need("own").disabled ? " of at least 3" : ""})`;
  need("replay").hidden = false;
  need("stroke").max = String(frames.length - 1);
  need("ink").replaceChildren(...frames.map((frame, i) => {
    const line = make("tr");
    const cell = make("td");
    cell.append(make("meter", { min: "0", max: "1", value: frame.remaining.toFixed(3), "aria-label": "remaining ink" }),
      ` ${(100 * frame.remaining).toFixed(0)} %`);
    line.append(make("th", { scope: "row" }, String(i)), cell);
    return line;
  }));
  need("programs").replaceChildren(...found.programs.map((/** @type {any} */ p) => {
    const line = make("tr");
    const cell = make("td");
    cell.append(make("meter", { min: "0", max: "1", value: p.probability.toFixed(4), "aria-label": "probability" }),
      ` ${(100 * p.probability).toFixed(1)} %`);
    const strokes = make("td");
    strokes.append(...p.program.split("; ").map((/** @type {string} */ words) => make("div", {}, words)));
    line.append(cell, strokes);
    return line;
  }));
  play();
}

/** Sends the drawing, and shows what is found. */
async function explain() {
  stop();
  try {
    if (drawn) {
      const blob = await new Promise((done) => paper.toBlob(done, "image/png"));
      file = await upload(blob, "drawing.png");
    }
    if (!file) throw new Error("There is no drawing yet: draw one, or give an image.");
    need("stop").disabled = false;
    const end = (/** @type {string} */ sentence, /** @type {boolean} */ wrong = false) => {
      need("stop").disabled = true;
      say(sentence, wrong);
    };
    const leave = follow(`stream/explain?file=${encodeURIComponent(file)}`, () => {},
      (data) => { if (data.said) say(data.said); else show(data); }, (refusal) => end(refusal || "", Boolean(refusal)));
    stop = () => { leave(); end("Stopped."); stop = () => {}; };
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
}

/** Shows drawings that the server makes.
 * @param {string} question @param {[string, string][]} fields @param {string} what */
async function more(question, fields, what) {
  say("Drawing ...");
  try {
    seed += 1;
    const found = await post(`ask/${question}`, [["seed", String(seed)], ...fields]);
    need("drawn").replaceChildren(...found.pictures.map((/** @type {string} */ png, /** @type {number} */ i) => {
      const item = make("li");
      item.append(make("img", { src: `data:image/png;base64,${png}`, alt: `${what} ${i + 1}`, width: "112" }));
      return item;
    }));
    say("");
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
}

/** Shows new characters in the chosen style. */
function invent() {
  const style = need("style");
  const own = style.value === "own" ? explained.slice(-MOST_STYLE_DRAWINGS) : [];
  const what = style.value === "any" ? "new character" : `new character in the style of ${style.selectedOptions[0].text},`;
  more("more", [["style", style.value], ...own.map((word) => /** @type {[string, string]} */ (["explained", word]))], what);
}

/** Lists the alphabets whose style is known. */
async function listStyles() {
  try {
    const found = await post("ask/styles", []);
    need("alphabets").append(...found.styles.map((/** @type {string} */ name) => make("option", { value: name }, name)));
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
}

paper.addEventListener("pointerdown", (event) => {
  paper.setPointerCapture(event.pointerId);
  const [x, y] = place(event);
  Object.assign(pen, { strokeStyle: "black", lineWidth: PEN_WIDTH, lineCap: "round", lineJoin: "round" });
  pen.beginPath();
  pen.moveTo(x, y);
});
paper.addEventListener("pointermove", (event) => {
  if (!event.buttons) return;
  const [x, y] = place(event);
  pen.lineTo(x, y);
  pen.stroke();
  drawn = true;
});
paper.addEventListener("pointerup", () => { if (drawn) explain(); });
need("ask").addEventListener("submit", (/** @type {Event} */ event) => { event.preventDefault(); explain(); });
need("clear").addEventListener("click", () => { clear(); file = ""; another = true; });
need("stop").addEventListener("click", () => stop());
need("play").addEventListener("click", play);
need("stroke").addEventListener("input", () => { clearInterval(playing); showFrame(Number(need("stroke").value)); });
need("like").addEventListener("click", () => more("like", [["explained", explained[explained.length - 1]]], "further example"));
need("more").addEventListener("click", invent);
need("style").addEventListener("change", invent);
onFile(need("file"), need("ask"), async (given) => {
  try {
    file = await upload(given, given.name);
    drawn = false;
    another = true;
    history.replaceState(null, "", `?file=${encodeURIComponent(file)}`);
    explain();
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
});
clear();
listStyles();
if (file) explain();
