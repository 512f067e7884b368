// @ts-check
import { need, onFile, root, say, upload } from "../../static/explore.js";

const form = need("ask");
const value = need("value");

/** Puts the word of the explanation, and the rejected values, into the forms once an answer is shown. */
function settle() {
  const found = need("found").querySelector("[data-explained]");
  if (!found) return;
  need("explained").value = need("tried").value = found.dataset.explained;
  const rejects = /** @type {HTMLTemplateElement} */ (need("rejects"));
  need("rejected").replaceChildren(rejects.content.cloneNode(true));
  say("");
  if (value.value) need("try").dispatchEvent(new Event("retry"));
}

document.body.addEventListener("htmx:before:request", () => need("found").classList.add("busy"));
document.body.addEventListener("htmx:finally:request", () => need("found").classList.remove("busy"));
document.body.addEventListener("htmx:error", () =>
  say("The server does not answer: is wakesleep explore still running?", true));
new MutationObserver(settle).observe(need("found"), { childList: true });
need("rejected").addEventListener("change", () => form.requestSubmit());
onFile(need("file"), need("drop"), async (file) => {
  try {
    say(`Reading ${file.name} ...`);
    const word = await upload(file, file.name);
    location.assign(`${root}/column/?file=${encodeURIComponent(word)}`);
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
  }
});
// htmx takes the forms over when the page is loaded, and so before this.
document.addEventListener("DOMContentLoaded", () => form.requestSubmit());
