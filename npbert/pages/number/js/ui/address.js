// The address: what is shown, after the # of the URL; so a link, a reload and the browser's own keys keep the place.
//
// Each key says how it is written from `state`, as a list of texts, none for the default; and what a text of it brings
// to `next`, the state that is to be, or null where this page has no such thing.

import {BUGS} from "../math/index.js";
import {putNumbers, runAgain, startOf, stepThatMakesNumber} from "./actions.js";
import {byId, make} from "./dom.js";
import {placeIn, placeNamed, stepNamed, stepOfFile} from "./named.js";
import {isSecret} from "./notes.js";
import {newQuiz} from "./quiz.js";
import {change, state, watch} from "./state.js";
import {VIEWS} from "./tabs.js";
import {stopNamed} from "./tour.js";

// Of these the numbers hang: they are computed again where one changes.
const SENTENCE_KEYS = {
  sentence: {
    write: ({sentence}) => (sentence ? [sentence] : []),
    read: (text) => (/^\d+$/.test(text) && text in state.data.examples ? startOf(Number(text)) : null),
  },
  answer: {
    write: ({data, sentence, example}) => example.labels.flatMap((word, position) =>
      (word === data.examples[sentence].labels[position] ? [] : [`${position}:${data.vocabulary[word]}`])),
    read: (text, {example}) => {
      const [, position, token] = text.match(/^(\d+):(.*)$/s) ?? [];
      const word = state.data.vocabulary.indexOf(token);
      const isThere = word >= 0 && example.labels[position] >= 0;
      return isThere ? {example: {...example, labels: example.labels.with(Number(position), word)}} : null;
    },
  },
  set: {
    write: ({changed}) => changed.map((place) => `${textOf(place)}:${Object.is(place.value, -0) ? "-0" : place.value}`),
    read: (text, {changed}) => {
      const [, where, value] = text.match(/^(.*):([-+.\de]+)$/) ?? [];
      const place = placeIn(state.model.parameters, where ?? "");
      return place && Number.isFinite(Number(value)) ? {changed: [...changed, {...place, value: Number(value)}]} : null;
    },
  },
  bug: {
    write: ({bug, quiz}) => (bug && !isSecret(quiz) ? [bug] : []),
    read: (text) => (BUGS.some(({id}) => id === text) ? {bug: text} : null),
  },
};
const VIEW_KEYS = {
  step: {
    write: ({step, chosen}) => (step || chosen ? [step + 1] : []),
    read: (text) => stepNamed(text),
  },
  file: {
    write: () => [],
    read: (text) => stepOfFile(text),
  },
  number: {
    write: ({trail}) => trail.map(textOf), // the way here, the number itself last
    read: (text, {trail, step}) => {
      const place = placeNamed(text, step ?? 0);
      return place && {chosen: place, trail: [...trail, place]};
    },
  },
  tab: {
    write: ({view}) => (view === "step" ? [] : [view]),
    read: (text) => (VIEWS.includes(text) ? {view: text} : null),
  },
  words: {
    write: ({allWords}) => (allWords ? ["all"] : []),
    read: (text) => (text === "all" ? {allWords: true} : null),
  },
  tour: {
    write: ({tour}) => (tour ? [`${tour.name}:${tour.stop}`] : []),
    read: (text) => {
      const stop = stopNamed(text);
      return stop && {tour: stop.tour};
    },
  },
  quiz: {
    write: ({quiz}) => (quiz && !quiz.isAnswered ? [`${quiz.kind}:${quiz.seed}`] : []),
    read: (text) => {
      const [, kind, seed] = text.match(/^(bug|number)(?::(\d{1,6}))?$/) ?? [];
      return kind ? {quiz: newQuiz(kind, seed && Number(seed))} : null;
    },
  },
};
const KEYS = {...SENTENCE_KEYS, ...VIEW_KEYS};
const PASSING = ["step", "words"]; // the browser's "back" does not undo these one by one
const REWRITE_AFTER = 400; // milliseconds: browsers refuse an address that is rewritten at every move of a drag
const MOST_SAID = 200;
const isEmbedded = new URLSearchParams(location.search).has("embed");
let shown = null; // {all, lasting}: the address of the state as it is now, and without what is passing
let rewriting = null;

// Go where the address says; from then on it follows the state. `?embed`: for a frame in another page.
export function showAddress() {
  document.documentElement.classList.toggle("embed", isEmbedded);
  globalThis.npbert.address = () => addressOf(state);
  byId("copy-link").addEventListener("click", copyLink);
  addEventListener("hashchange", goToHash);
  goToHash();
  watch(["trace", "step", "chosen", "view", "allWords", "tour", "quiz"], () => queueMicrotask(followState));
}

function textOf({name, row, column}) {
  return `${name}[${row},${column}]`;
}

function addressOf(now, leftOut = []) {
  const keys = Object.keys(KEYS).filter((key) => !leftOut.includes(key));
  const pairs = keys.flatMap((key) => KEYS[key].write(now).map((text) => [key, text]));
  return new URLSearchParams(pairs).toString().replace(/%(5B|5D|2C|3A|28|29|2F)/g, (code) => decodeURIComponent(code));
}

// Show what the address says. What this page does not have of it is said, and left out.
function goToHash() {
  const hash = location.hash.slice(1);
  const isElsewhere = hash !== "" && byId(hash) !== null; // a plain link within the page
  if (isElsewhere && state.trace) {
    return;
  }
  const text = isElsewhere ? "" : hash;
  const stop = stopNamed(new URLSearchParams(text).get("tour"));
  const given = new URLSearchParams(stop && !text.includes("&") ? `${stop.address}&${text}` : text);
  const missing = [...given].filter(([key]) => !Object.hasOwn(KEYS, key));
  const readInto = (next, keys) => {
    for (const [key, one] of Object.keys(keys).flatMap((key) => given.getAll(key).map((one) => [key, one]))) {
      const brought = keys[key].read(one, next);
      Object.assign(next, brought);
      missing.push(...(brought ? [] : [[key, one]]));
    }
    return next;
  };
  const {changed, ...base} = readInto({...startOf(0), changed: [], bug: null}, SENTENCE_KEYS);
  const ofSentence = (now) => addressOf(now, Object.keys(VIEW_KEYS));
  if (!state.trace || base.bug !== state.bug || ofSentence({...state, ...base, changed}) !== ofSentence(state)) {
    putNumbers(changed);
    runAgain({...base, changed: state.changed, chosen: null, trail: []});
  }
  const start = {step: null, chosen: null, trail: [], view: "step", allWords: false, tour: null, quiz: null};
  const next = readInto(start, VIEW_KEYS);
  change({...next, step: next.step ?? (next.chosen && stepThatMakesNumber(next.chosen)) ?? 0});
  remember();
  rewrite();
  const list = missing.map(([key, one]) => `${key}=${one}`).join(", ");
  tell(...(list ? [`Left out of the address, as this page has no such thing: ${list.slice(0, MOST_SAID)}`] : []));
}

// The state has changed: a lasting change is a new entry of the browser's history.
function followState() {
  const before = shown;
  remember();
  if (shown.lasting !== before.lasting && !isEmbedded) {
    rewrite(before.all);
    history.pushState(null, "", `#${shown.all}`);
    tell();
  } else if (shown.all !== before.all) {
    rewriting ??= setTimeout(() => rewrite(), REWRITE_AFTER);
  }
}

// Links that lead to what is shown, but for one key, lead there from now on.
function remember() {
  shown = {all: addressOf(state), lasting: addressOf(state, PASSING)};
  for (const link of document.querySelectorAll("a[data-without]")) {
    link.href = `${location.href.split(/[?#]/)[0]}#${addressOf(state, [link.dataset.without])}`;
  }
}

function rewrite(address = shown.all) {
  clearTimeout(rewriting);
  rewriting = null;
  if (location.hash.slice(1) !== address) {
    history.replaceState(null, "", `#${address}`);
  }
}

async function copyLink() {
  rewrite();
  const trained = state.stepsTrained || state.isFresh ? " What was trained here is not in it." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    tell(`The link to what you see is copied.${trained}`);
  } catch { // a browser may refuse it: then the reader copies it himself
    const field = make("input", {readonly: true, value: location.href, "aria-label": "the link"});
    tell(`Copy the link from here:${trained} `, field);
    field.select();
  }
}

function tell(...parts) {
  byId("address-said").hidden = parts.length === 0;
  byId("address-said").replaceChildren(...parts);
}
