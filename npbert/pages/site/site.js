// What the pages do beside being read: shapes at the pointer, partners that light up, the search, light and dark.

import {listenToTheme} from "../theme.js";

const root = document.body.dataset.root;

// ---- the shape of a variable, where the pointer or the keyboard is
const hint = document.getElementById("page-hint");
let pointed = null;

function showShape(link) {
  pointed = link;
  hint.hidden = !link;
  if (link) {
    hint.textContent = link.dataset.shape;
    const place = link.getBoundingClientRect();
    const left = Math.min(place.left, document.documentElement.clientWidth - hint.offsetWidth - 8);
    const above = place.top - hint.offsetHeight - 6;
    hint.style.left = `${Math.max(4, left)}px`;
    hint.style.top = `${above > 50 ? above : place.bottom + 6}px`;
  }
}

// ---- a call and the one that undoes it light up together; so do all places of a local variable
function light(link, on) {
  const isMark = link.classList.contains("mark");
  const isSame = (other) => other.hash === link.hash && other.textContent === link.textContent;
  const locals = [...link.closest(".code").querySelectorAll("a.local")].filter(isSame);
  const both = isMark ? [link, document.getElementById(link.hash.slice(1))] : [];
  for (const each of link.classList.contains("local") ? locals : both) {
    each.classList.toggle("lit", on);
    if (isMark) {
      each.closest(".line").classList.toggle("lit", on);
    }
  }
}

const POINTING = { mouseover: true, focusin: true, mouseout: false, focusout: false };
for (const [type, on] of Object.entries(POINTING)) {
  document.addEventListener(type, (event) => {
    const link = event.target.closest?.(".code a, pre a");
    showShape(on && link?.dataset.shape ? link : null);
    if (link?.closest(".code")) {
      light(link, on);
    }
  });
}
document.addEventListener("scroll", () => pointed && showShape(pointed), { passive: true });

// ---- the search: all words, in any order, in names first, then in first sentences, then below headings
const search = document.getElementById("page-search");
const found = document.getElementById("page-found");
const none = document.getElementById("page-none");
let chosen = -1;

const plain = (text) => text.toLowerCase().replace(/[\s_.-]+/g, " ").trim();
const joined = (text) => text.toLowerCase().replace(/[_.-]/g, "");
// the beginning that a word has in all its forms: "accumulation" is found in "accumulate"
const stem = (word) => word.replace(/(?<=.{4})(ations?|ings?|ed|es|s|e)$/, "");

// an error as it was printed, with values where its text has …
function isPrinted(typed, text) {
  let from = 0;
  return text.split("…").every((piece) => {
    const place = typed.indexOf(piece, from);
    from = place + piece.length;
    return place >= 0;
  });
}

function rank(typed, [name, kind, page, sentence, text = ""]) {
  if (kind.startsWith("error of ") && isPrinted(typed, name)) {
    return 0;
  }
  const wanted = stem(plain(typed).replaceAll(" ", ""));
  const whole = plain(name.replace(/(\.py|\/)$/, "").split(/[./]/).pop()).replaceAll(" ", "");
  const words = plain(typed).split(" ").map(stem);
  const has = (...texts) => words.every((word) => texts.some((each) => each.includes(word)));
  const names = [plain(name), joined(name)];
  return [
    stem(whole) === wanted || stem(joined(name)) === wanted,
    whole.startsWith(wanted) || (page.startsWith("docs/") && has(...names)),
    has(...names),
    has(...names, plain(sentence)),
    has(...names, plain(sentence), text),
  ].indexOf(true);
}

function matches(typed) {
  return ENTRIES.map((entry, place) => [place >= FIRST_LATE, rank(typed, entry), place, entry])
    .filter((each) => each[1] >= 0)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    .slice(0, 12)
    .map((each) => each[3]);
}

function showMatches() {
  const typed = search.value.trim();
  const list = plain(typed) ? matches(typed) : [];
  found.replaceChildren(
    ...list.map(([name, kind, page, sentence], place) => {
      const link = document.createElement("a");
      const what = document.createElement("small");
      link.href = root + page;
      link.id = `page-found-${place}`;
      link.tabIndex = -1;
      link.role = "option";
      link.textContent = name;
      what.textContent = sentence ? `${kind}: ${sentence}` : kind;
      link.append(what);
      return link;
    }),
  );
  none.textContent = typed && !list.length ? "nothing like this" : "";
  open(list.length > 0);
  choose(0);
}

function open(is) {
  found.hidden = !is;
  search.ariaExpanded = String(is);
  none.hidden = is;
}

function choose(place) {
  const links = [...found.children];
  chosen = links.length ? (place + links.length) % links.length : -1;
  links.forEach((link, number) => {
    link.ariaSelected = String(number === chosen);
  });
  links[chosen]?.scrollIntoView({ block: "nearest" });
  search.setAttribute("aria-activedescendant", links[chosen]?.id ?? "");
}

search.addEventListener("input", showMatches);
search.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (found.hidden) {
      showMatches();
    } else {
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    }
  } else if (event.key === "Enter") {
    event.preventDefault();
    if (!found.hidden) {
      found.children[chosen].click();
      open(false);
    }
  } else if (event.key === "Escape") {
    search.value = "";
    showMatches();
  }
});
search.form.addEventListener("focusout", (event) => {
  if (!search.form.contains(event.relatedTarget)) {
    open(false);
  }
});

// ---- keys: / to search, the arrows with no other key for the page before and the next
document.addEventListener("keydown", (event) => {
  const writes = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (writes || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) {
    return;
  }
  if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    document.querySelector(`.bar a[rel=${event.key === "ArrowLeft" ? "prev" : "next"}]`)?.click();
  }
});

listenToTheme(document.getElementById("page-theme"));

// ---- what can be scrolled sideways can be reached with the tab key, too
const watchWidth = new ResizeObserver((boxes) => {
  for (const { target } of boxes) {
    target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
  }
});
document.querySelectorAll("pre, .scrolls").forEach((box) => watchWidth.observe(box));

// ---- a link to a line or a bug inside something that is folded opens it
function unfold() {
  const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  for (let node = target?.closest("details"); node; node = node.parentElement.closest("details")) {
    node.open = true;
  }
  target?.scrollIntoView();
}

addEventListener("hashchange", unfold);
unfold();
