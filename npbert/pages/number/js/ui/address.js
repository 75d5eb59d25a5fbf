// The address: what is shown, after the # of the URL; so a link, a reload and the browser's own keys keep the place.
//
// Each key says how it is written from `state`, as a text or a list of them, nothing for the default; and what a text
// of it brings to `next`, the state that is to be: nothing, where this page has no such thing.

import {answered, exampleOfLine, hidden, stepThatMakesNumber, traceOf} from "./actions.js";
import {byId, show} from "./dom.js";
import {placeNamed, stepNamed, stepOfFile} from "./named.js";
import {bugNamed, isSecret, stopNamed} from "./notes.js";
import {quizNamed} from "./quiz.js";
import {change, state, watch} from "./state.js";
import {VIEWS} from "./tools.js";

// Of these the numbers hang: they are computed again where one changes.
const SENTENCE_KEYS = {
  sentence: {
    write: ({sentence}) => sentence,
    read: (text) => /^\d+$/.test(text) && text in state.data.examples && startOf(Number(text)),
  },
  line: {
    // one that the reader has typed
    write: ({example}) => example.line,
    read(text) {
      const example = exampleOfLine(text);
      return !example.unknown && {example};
    },
  },
  hide: {
    // the place of the only word that is hidden
    write: ({example}) => example.hides,
    read: (text, {example}) =>
      Number(text) > 0 && Number(text) < example.labels.length - 1 && {example: hidden(example, Number(text))},
  },
  answer: {
    write: ({data, example}) =>
      example.labels.flatMap((word, position) =>
        word === example.given[position] ? [] : [`${position}:${data.vocabulary[word]}`],
      ),
    read(text, {example}) {
      const [position, word] = numberedWord(text);
      const isThere = word >= 0 && example.labels[position] >= 0;
      return isThere && {example: answered(example, position, word)};
    },
  },
  bug: {
    write: ({bug, quiz, tour}) => !isSecret({quiz, tour}) && bug,
    read: (text) => bugNamed(text) && {bug: text},
  },
  against: {
    // which hidden word, and the word that its answer is compared with
    write: ({rival, data}) => rival && `${rival.masked}:${data.vocabulary[rival.word]}`,
    read(text, {example}) {
      const [masked, word] = numberedWord(text);
      const answer = example.labels.filter((label) => label >= 0)[masked];
      return word >= 0 && answer !== undefined && word !== answer && {rival: {masked, word}};
    },
  },
};
const VIEW_KEYS = {
  step: {write: ({step, chosen}) => (step || chosen) && step + 1, read: (text) => brings("step", stepNamed(text))},
  file: {write: () => null, read: (text) => brings("step", stepOfFile(text))},
  number: {
    // the way here, the number itself last
    write: ({trail}) => trail.map(({name, row, column}) => `${name}[${row},${column}]`),
    read(text, {trail, step}) {
      const place = placeNamed(text, step);
      return place && {trail: [...trail, place]};
    },
  },
  tab: {
    write: ({view}) => view !== "step" && view,
    read: (text) => VIEWS.includes(text) && {view: text},
  },
  words: {write: ({allWords}) => allWords && "all", read: (text) => text === "all" && {allWords: true}},
  tour: {write: ({tour}) => tour, read: (text) => stopNamed(text) && {tour: text}},
  quiz: {write: ({quiz}) => quiz && `${quiz.kind}:${quiz.seed}`, read: (text) => brings("quiz", quizNamed(text))},
};
const KEYS = {...SENTENCE_KEYS, ...VIEW_KEYS};
const NOTHING_CHOSEN = {trail: [], view: "step", allWords: false, tour: null, quiz: null};
const PASSING = ["step", "words"]; // the browser's "back" does not undo these one by one
const WRITE_AFTER = 400; // milliseconds: browsers refuse an address that is written at every step of a drag
const MOST_SAID = 200;
const isEmbedded = new URLSearchParams(location.search).has("embed");
let lasting = null; // the address that was written last, without what is passing
let known = null; // the address that was read or written last
let writing = null;

// Go where the address says; from then on it follows the state. `?embed`: for a frame in another page.
export function showAddress() {
  document.documentElement.classList.toggle("embed", isEmbedded);
  globalThis.npbert.address = () => addressOf(state);
  addEventListener("hashchange", goToHash);
  byId("link").target = isEmbedded ? "_blank" : "";
  byId("link").addEventListener("click", ({target: {href}}) => {
    navigator.clipboard?.writeText(href).then(() => tell("Copied: the address of what you see."), () => tell(href));
  });
  goToHash();
  watch(["trace", "step", "trail", "view", "allWords", "tour", "quiz"], () => {
    writing ??= setTimeout(writeUnlessLeft, WRITE_AFTER);
  });
}

// A sentence as it came, by its number.
const startOf = (sentence) => ({sentence, example: state.data.examples[sentence]});

// "2:are": a number, and the id of a word, −1 where there is none.
function numberedWord(text) {
  const [, number, token] = text.match(/^(\d+):(.*)$/s) ?? [];
  return [Number(number), state.data.vocabulary.indexOf(token)];
}

const brings = (key, value) => value !== null && {[key]: value};

function addressOf(now, leftOut = []) {
  const keys = Object.keys(KEYS).filter((key) => !leftOut.includes(key));
  const textsOf = (key) => [KEYS[key].write(now)].flat().filter(Boolean);
  const pairs = keys.flatMap((key) => textsOf(key).map((text) => [key, text]));
  return new URLSearchParams(pairs).toString().replace(/%(5B|5D|2C|3A|28|29|2F)/g, (code) => decodeURIComponent(code));
}

// What a hash gives, as keys and texts: of a stop of a tour also its own, in which a bug that is to be found is not told.
function givenBy(hash) {
  const stop = stopNamed(new URLSearchParams(hash).get("tour"));
  const isWhole = stop && !hash.includes("&");
  const given = new URLSearchParams(isWhole ? `${stop.dataset.address}&${hash}` : hash);
  if (stop?.hasAttribute("data-secret")) {
    given.set("bug", new URLSearchParams(stop.dataset.address).get("bug"));
  }
  return given;
}

// What these keys of an address bring to a state; what this page does not have is added to `missing`.
function read(given, keys, start, missing) {
  const texts = Object.keys(keys).flatMap((key) => given.getAll(key).map((text) => [key, text]));
  return texts.reduce((next, [key, text]) => {
    const brought = keys[key].read(text, next);
    missing.push(...(brought ? [] : [[key, text]]));
    return {...next, ...brought};
  }, start);
}

// Show what the address says. What this page does not have of it is said, and left out.
function goToHash() {
  known = location.hash;
  const hash = known.slice(1);
  const outside = !state.trace || state.tour || state.quiz ? state.outside : addressOf(state);
  const given = givenBy(hash);
  const missing = [...given].filter(([key]) => !Object.hasOwn(KEYS, key));
  const base = read(given, SENTENCE_KEYS, {...startOf(0), bug: null, rival: null, earlier: null}, missing);
  const numbersOf = (now) => addressOf({...now, quiz: null, tour: null}, Object.keys(VIEW_KEYS));
  const isOther = !state.trace || numbersOf({...state, ...base}) !== numbersOf(state);
  if (isOther) {
    state.trace = traceOf(base);
  }
  const next = read(given, VIEW_KEYS, {...NOTHING_CHOSEN, step: null}, missing);
  const chosen = next.trail.at(-1);
  const step = next.step ?? (chosen && stepThatMakesNumber(chosen)) ?? 0;
  const others = isOther ? {...base, trace: state.trace} : {};
  change({...others, ...next, step, outside, moved: null}); // all is drawn once
  lasting = addressOf(state, PASSING);
  write();
  const list = missing.map(([key, text]) => `${key}=${text}`).join(", ");
  tell(list && `Left out of the address, as this page has no such thing: ${list.slice(0, MOST_SAID)}`);
}

// Not over the address of a link that was followed just now: the browser is about to go there.
function writeUnlessLeft() {
  writing = null;
  if (location.hash === known) {
    write();
  }
}

// A lasting change is a new entry of the browser's history; any other is written into the last one.
function write() {
  clearTimeout(writing);
  writing = null;
  const address = `#${addressOf(state)}`;
  const before = lasting;
  lasting = addressOf(state, PASSING);
  if (lasting !== before && !isEmbedded) {
    history.pushState(null, "", address);
    tell("");
  } else if (location.hash !== address) {
    history.replaceState(null, "", address);
  }
  known = location.hash;
  byId("link").href = `${location.href.split(/[?#]/)[0]}${address}`;
}

function tell(text) {
  byId("address-said").hidden = !text;
  show("address-said", text);
}
