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
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// The element of page.html with this id.
export function byId(id) {
  return document.getElementById(id);
}

// A button that does one thing.
export function makeButton(text, onclick, attributes = {}) {
  return make("button", {type: "button", onclick, ...attributes}, text);
}

// A row of a table: what it is of, and its cells, [class, content] each.
export function makeRow(name, ...cells) {
  const parts = cells.map(([look, text]) => make("td", {class: look}, text));
  return make("tr", {}, make("th", {scope: "row"}, name), ...parts);
}
