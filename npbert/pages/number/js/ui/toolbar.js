// Groups of controls: Tab stops once in each, and the arrow keys, Home and End go from one to the next within it. A
// group is whatever has role="toolbar" or role="tablist": these are the keys of ARIA's patterns for both.

const TOOLBARS = "[role=toolbar], [role=tablist]";
const CONTROLS = "a[href], button, input, select";
const BEST_STOPS = ["[aria-selected=true]", "[tabindex='0']", ".main", "*"]; // the open tab; where the focus was last
const MOVES = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: 0, End: 0};
const OWN_KEYS = {INPUT: ["ArrowLeft", "ArrowRight", "Home", "End"], SELECT: ["ArrowUp", "ArrowDown", "Home", "End"]};
let clicked = null; // the control that has the focus because it was clicked

// From now on each group has one stop, also when what is in it changes.
export function showToolbars() {
  const changes = {subtree: true, childList: true, attributeFilter: ["disabled", "hidden", "aria-selected"]};
  const setStops = () => document.querySelectorAll(TOOLBARS).forEach((group) => setStop(group));
  new MutationObserver(setStops).observe(document.body, changes);
  document.addEventListener("focusin", ({target}) => {
    clicked = null;
    setStop(target.closest(TOOLBARS), target);
  });
  document.addEventListener("click", ({target, detail}) => {
    clicked = detail ? target.closest(CONTROLS) : null; // 0: it was pressed with the keyboard
  });
  setStops();
}

function setStop(group, focused = null) {
  const controls = group ? controlsIn(group) : [];
  const best = BEST_STOPS.map((what) => controls.find((control) => control.matches(what))).find(Boolean);
  const stop = controls.includes(focused) ? focused : best;
  for (const control of group?.querySelectorAll(CONTROLS) ?? []) {
    control.tabIndex = control === stop ? 0 : -1;
  }
}

function controlsIn(group) {
  return [...group.querySelectorAll(CONTROLS)].filter((control) => !control.disabled && !control.closest("[hidden]"));
}

// Go on in a group, where this was one of its keys: returns whether it was. Who has clicked in a toolbar does not go
// through it with the keys: for them the arrow keys step, as everywhere else.
export function moveInToolbar(event) {
  const {target, key, altKey, ctrlKey, metaKey} = event;
  const group = target.closest?.(TOOLBARS);
  const isTabs = group?.role === "tablist";
  const isMeant = (isTabs || target !== clicked) && !OWN_KEYS[target.tagName]?.includes(key);
  if (!group || !(key in MOVES) || altKey || ctrlKey || metaKey || !isMeant) {
    return false;
  }
  const controls = controlsIn(group);
  const next = {Home: 0, End: -1}[key] ?? (controls.indexOf(target) + MOVES[key]) % controls.length;
  const there = controls.at(next);
  there.focus();
  if (isTabs) {
    there.click();
  }
  event.preventDefault();
  return true;
}
