// Notes at the foot of the window: that a bug is planted, that the model is no longer the one that came, and that two
// guesses are compared. Each has a button that ends it.

import {compareWith, runAgain} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {counted} from "./format.js";
import {checked} from "./labels.js";
import {state, watch} from "./state.js";
import {backToStart} from "./train.js";

export function showNotes() {
  watch(["bug", "trace", "quiz", "tour"], () => show("notes", ...notes().map(drawnNote)));
}

function notes() {
  const bug = knownBug();
  const {isFresh, stepsTrained, rival, trace} = state;
  const isSeen = bug && checked(trace).some(({isWrong}) => isWrong);
  const trained = stepsTrained && `it was trained here for ${counted(stepsTrained, "step")}`;
  const changes = [isFresh && "it began anew from random numbers", trained].filter(Boolean);
  return [
    bug && [
      "bug",
      `A bug is planted in the backward: ${bugNamed(bug).name}. ${isSeen ? "Wrong numbers are underlined." : "Here it changes nothing."}`,
      "Take it out",
      () => runAgain({bug: null}),
    ],
    changes.length && ["changed", `This is not the trained model: ${changes.join(", ")}.`, "Undo", backToStart],
    rival && [
      "rival",
      "Every gradient now says how fast the difference of two guesses moves, not the loss.",
      "Show the loss again",
      () => compareWith(null),
    ],
  ].filter(Boolean);
}

function drawnNote([name, text, done, undo]) {
  const act = () => {
    undo();
    byId(`tab-${state.view}`).focus({preventScroll: true}); // the note, and its button, are gone
  };
  return make("p", {id: `${name}-note`}, `${text} `, makeButton(done, act, {id: `${name}-out`}));
}

// A stop of a tour by its name and its number there, "table:2": the element of tours.html, or null for none.
export function stopNamed(text) {
  const [, name, number] = text?.match(/^(\w+):(\d+)$/) ?? [];
  return document.querySelectorAll(`[data-tour="${name}"] li`)[number - 1] ?? null;
}

// Is a bug planted that the reader is to find?
export const isSecret = ({quiz, tour} = state) =>
  (quiz?.kind === "bug" && !quiz.isAnswered) || Boolean(stopNamed(tour)?.hasAttribute("data-secret"));

// The bug of this id: its name, what is wrong with it, and the line that it plants.
export const bugNamed = (id) => state.model.program.bugs.find((bug) => bug.id === id);

// The id of the planted bug, unless it is to be found; or null.
export const knownBug = () => (isSecret() ? null : state.bug);

// The same, where it is at this step; or null.
export const bugAt = ({isBroken}) => (isBroken ? knownBug() : null);

export function linesOfBug(id) {
  const {why, right, planted} = bugNamed(id);
  return [
    make("p", {}, why),
    make("p", {class: "formula"}, `right: ${right}`),
    make("p", {class: "formula bad"}, `planted: ${planted}`),
  ];
}
