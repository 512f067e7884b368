// @ts-check
import { follow, need, onFile, root, say, upload } from "../../static/explore.js";

const table = need("columns");
const progress = /** @type {HTMLProgressElement} */ (need("progress"));
let stop = () => {};
let file = table.dataset.file || "";
let name = table.dataset.name || "";

/** Explains the table anew, and shows each column as it comes. */
function start() {
  stop();
  need("rows").replaceChildren();
  need("downloads").hidden = true;
  let total = 0;
  let done = 0;
  let read = "";
  const finish = (/** @type {string | null} */ refusal, /** @type {boolean} */ cut = false) => {
    need("stop").disabled = true;
    progress.hidden = true;
    if (refusal) say(refusal, true);
    else say(`${cut ? "Stopped" : "Done"}: ${done} of ${total} columns of ${name}${read}.`);
  };
  const generality = need("generality").value;
  const leave = follow(
    `stream/columns?file=${encodeURIComponent(file)}&generality=${generality}`,
    (html) => need("rows").insertAdjacentHTML("beforeend", html),
    (data) => {
      if (data.columns !== undefined) {
        total = data.columns;
        read = data.read < data.rows
          ? `, from a random sample of ${data.read.toLocaleString("en")} of its ${data.rows.toLocaleString("en")} rows`
          : `, ${data.rows.toLocaleString("en")} rows`;
      } else {
        done = data.done;
      }
      progress.value = total ? done / total : 0;
      say(`${done} of ${total} columns of ${name}${read} ...`);
      if (data.survey) offer(data.survey);
    },
    (refusal) => finish(refusal),
  );
  stop = () => { leave(); finish(null, true); stop = () => {}; };
  need("stop").disabled = progress.hidden = false;
  say(`Reading ${name} ...`);
}

/** Shows the downloads of a table that is explained. @param {string} survey */
function offer(survey) {
  need("downloads").hidden = false;
  for (const link of need("downloads").querySelectorAll("a")) {
    link.href = `ask/download?form=${link.dataset.form}&survey=${encodeURIComponent(survey)}`;
  }
}

need("rows").addEventListener("click", (/** @type {Event} */ event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest("a[data-column]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const query = new URLSearchParams({ file, column: link.dataset.column || "" });
  link.href = `${root}/column/?${query}`;
});
need("stop").addEventListener("click", () => stop());
need("generality").addEventListener("change", () => { if (file) start(); });
onFile(need("file"), need("ask"), async (given) => {
  try {
    say(`Reading ${given.name} ...`);
    file = await upload(given, given.name);
    name = given.name;
    history.replaceState(null, "", `?file=${encodeURIComponent(file)}`);
    start();
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
});
if (file) start();
