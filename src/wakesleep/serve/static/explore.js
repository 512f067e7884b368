// @ts-check
// What every page shares: giving a file, reading a stream, one sentence where something does not work.

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
export const root = main.dataset.root || "";
export const MOST_UPLOAD_BYTES = 64 << 20;

/** Returns an element that the page must have.
 * @param {string} id @returns {any} */
export function need(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found;
}

/** Shows a sentence in the page's status line.
 * @param {string} sentence @param {boolean} [wrong] */
export function say(sentence, wrong = false) {
  const place = need("status");
  place.textContent = sentence;
  place.className = wrong ? "refusal" : "status";
}

/** Asks the server; a refusal becomes an error with its sentence.
 * @param {string} address @param {RequestInit} given @returns {Promise<Response>} */
async function answered(address, given) {
  let answer;
  try {
    answer = await fetch(address, { ...given, headers: { accept: "application/json", ...given.headers } });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Error("The server does not answer: is wakesleep explore still running?");
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Error(body.refusal || "This did not work.");
}

/** Asks the server, and returns what it answers as JSON.
 * @param {string} address @param {RequestInit} [given] @returns {Promise<any>} */
export async function ask(address, given = {}) {
  const answer = await answered(address, given);
  return answer.json().catch(() => { throw new Error("The server gave an answer that cannot be read."); });
}

/** Sends fields as a form; pairs where a name may come more than once.
 * @param {string} address @param {Record<string, string> | [string, string][]} fields @param {AbortSignal} [signal] */
export function post(address, fields, signal) {
  return ask(address, { method: "POST", body: new URLSearchParams(fields), signal });
}

/** Sends a file to the server, and returns the word by which it is asked for.
 * @param {File | Blob} file @param {string} name @returns {Promise<string>} */
export async function upload(file, name) {
  if (file.size > MOST_UPLOAD_BYTES) {
    throw new Error(`${name} is larger than 64 MB, the most that the explorer reads: use the command line.`);
  }
  const answer = await ask(`${root}/upload?name=${encodeURIComponent(name)}`, { method: "POST", body: file });
  return answer.file;
}

/** Calls back with the file that is chosen in an input or dropped on an element.
 * @param {HTMLInputElement} input @param {HTMLElement} area @param {(file: File) => void} take */
export function onFile(input, area, take) {
  input.addEventListener("change", () => { if (input.files?.[0]) take(input.files[0]); });
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over"); });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    if (event.dataTransfer?.files[0]) take(event.dataTransfer.files[0]);
  });
}

/** Follows a stream of the server; returns what stops it.
 * @param {string} address @param {(html: string) => void} part @param {(data: any) => void} data
 * @param {(refusal: string | null) => void} end */
export function follow(address, part, data, end) {
  const source = new EventSource(address);
  const finish = (/** @type {string | null} */ refusal) => { source.close(); end(refusal); };
  source.addEventListener("part", (event) => part(event.data));
  source.addEventListener("data", (event) => data(JSON.parse(event.data)));
  source.addEventListener("end", () => finish(null));
  source.addEventListener("refusal", (event) => finish(event.data));
  source.addEventListener("error", () => finish("The server no longer answers, so this was cut short."));
  return () => source.close();
}

/** Sends fields as a form, and calls back with each piece of data that the server streams.
 * @param {string} address @param {Record<string, string>} fields @param {(data: any) => void} data
 * @param {AbortSignal} signal */
export async function stream(address, fields, data, signal) {
  const answer = await answered(address, { method: "POST", body: new URLSearchParams(fields), signal });
  const reader = /** @type {ReadableStream} */ (answer.body).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (text + read.value).split("\n\n");
    text = events.pop() || "";
    for (const [name, ...lines] of events.map((each) => each.split("\n"))) {
      const said = lines.map((line) => line.slice("data: ".length)).join("\n");
      if (name === "event: refusal") throw new Error(said);
      if (name === "event: end") return;
      if (name === "event: data") data(JSON.parse(said));
    }
  }
  throw new Error("The server no longer answers, so this was cut short.");
}

/** The value of a colour of the style sheet.
 * @param {string} name */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Returns an element with text and attributes.
 * @param {string} tag @param {Record<string, string>} [attributes] @param {string} [text] */
export function make(tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}
