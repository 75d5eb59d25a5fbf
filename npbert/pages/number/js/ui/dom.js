// Making elements. Whatever comes from the data is put in as text, never as HTML.

// <tag …attributes>children</tag>. A child is an element, a text, or null. An attribute that is false or null is left
// out; one that begins with "on" is a function to call.
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for a part of a drawing.
export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// In the midst of long work: let the page draw, and hear the reader.
export const breath = () => new Promise((done) => setTimeout(done, 0));

export const byId = (id) => document.getElementById(id);

// Put these into it, in place of what is there.
export const show = (id, ...children) => byId(id).replaceChildren(...children);

export const makeButton = (text, onclick, attributes = {}) =>
  make("button", {type: "button", onclick, ...attributes}, text);
