// What the page says: the sentences of notes.html and said.html, by name.

import {noteWith} from "../math/index.js";

// The sentence of this name; what it has in braces is found in `of`.
export function said(name, of = {}) {
  return noteWith(document.querySelector(`[data-note~="${name}"]`).textContent, of);
}
