// Break it: plant a bug in the backward. A check of the gradients turns red at once; training hardly shows it.

import {makeModel, run} from "../math/run.js";
import {batchAt, makeTrainer, resetParameters} from "../math/train.js";
import {chooseSentence, runAgain} from "./actions.js";
import {chartOfLosses, smoothed} from "./chart.js";
import {breath, byId, make, makeButton, show} from "./dom.js";
import {followFrom} from "./follow.js";
import {plainNumber, signedNumber} from "./format.js";
import {arrayNamed, checked, partInWords, titleOf} from "./labels.js";
import {isSecret, knownBug, linesOfBug} from "./notes.js";
import {state, watch} from "./state.js";

const ROWS = 4; // of wrong arrays that are shown at once
const RACE = {steps: 150, seed: 3, lr: 1e-2};
let racing = null; // the losses of the race that goes on

export function showBreak() {
  const choices = [{id: "", name: "none: the backward as it should be"}, ...state.model.program.bugs];
  const choice = ({id, name}) => make("label", {}, make("input", {type: "radio", name: "bug", value: id}), " ", name);
  byId("bugs").append(...choices.map(choice));
  byId("bugs").addEventListener("change", ({target}) => {
    runAgain({bug: target.value || null});
    byId("check-list").scrollIntoView({block: "nearest"}); // on a phone it is below the list of bugs
  });
  byId("race").addEventListener("click", race);
  watch(["bug", "quiz", "tour"], drawBug);
  watch(["view", "trace", "tour", "quiz"], () => state.view === "break" && drawCheck());
}

function drawBug() {
  const bug = knownBug();
  const planted = isSecret() ? null : (bug ?? "");
  byId("bugs").querySelectorAll("input").forEach((one) => Object.assign(one, {checked: one.value === planted}));
  byId("bugs").disabled = isSecret();
  show("bug-lines", ...(bug ? linesOfBug(bug) : []));
  racing = null;
  show("race-chart");
  byId("race").disabled = !state.bug;
  show("race-said", state.bug ? "" : "Plant a bug first.");
}

function drawCheck() {
  const all = checked(state.trace);
  const wrong = all.filter(({isWrong}) => isWrong);
  byId("check-said").className = wrong.length ? "bad" : "good";
  show(
    "check-said",
    wrong.length
      ? `✗ Wrong: ${wrong.length} of the ${all.length} arrays of gradients. The first of them is made from right numbers.`
      : `✓ All ${all.length} arrays of gradients are what npbert’s proved formulas give.`,
  );
  const rows = wrong.map(wrongRow);
  const more = rows.splice(ROWS);
  const folded = make("details", {hidden: !more.length}, make("summary", {}, `✗ and ${more.length} more`), ...more);
  show("check-list", ...rows, folded, state.bug && !wrong.length ? elsewhere() : "");
}

// In this sentence the bug changes nothing: a way to one in which it does.
function elsewhere() {
  const example = state.data.examples.find((one) => changesSomething(state.bug, one));
  const go = example && [" It shows in another: ", makeButton(example.text, () => chooseSentence(example))];
  return make("p", {}, "In this sentence the bug changes nothing.", ...(go ?? []));
}

export function changesSomething(bug, example) {
  const [right, trace] = [null, bug].map((planted) => run(state.model, example, {bug: planted}));
  return checked({...trace, right}).some(({isWrong}) => isWrong);
}

function wrongRow({name, place, says, right}) {
  const {part} = state.trace.steps[arrayNamed(name).madeBy];
  const go = makeButton("follow it", () => followFrom(place), {"aria-label": `follow ${titleOf(place)}`});
  const title = make("strong", {}, ` ${titleOf(place)}, ${partInWords(part)}: `);
  const times = `it is ${plainNumber(says / right, 3)} times what it should be`;
  const text = `backward says ${signedNumber(says)}, right is ${signedNumber(right)}: ${times}`;
  return make("div", {class: "wrong-row"}, go, title, text);
}

// ---- a race: two fresh models are trained beside each other on the same sentences, one of them with the bug ----

async function race() {
  const losses = [[], []];
  racing = losses; // another race, or another bug, ends this one
  const trainers = losses.map(() => {
    const model = makeModel(state.data);
    resetParameters(model, RACE.seed);
    return makeTrainer(model, {...state.data.optimizer, lr: RACE.lr});
  });
  for (let step = 0; step < RACE.steps; step += 1) {
    const batch = batchAt(state.data.examples, step);
    trainers.forEach((trainer, index) => losses[index].push(trainer.step(batch, {bug: index ? state.bug : null})));
    await breath();
    if (racing !== losses) {
      return;
    }
    drawRace(...losses);
  }
}

function drawRace(right, broken) {
  const lines = [
    {label: "right", look: "solid", losses: smoothed(right)},
    {label: "with the bug", look: "dashed", losses: smoothed(broken)},
  ];
  const title = "the loss of two fresh models: one with the right backward, one with the bug";
  const isOver = right.length === RACE.steps;
  show("race-said", isOver ? howItEnded(broken[0], ...lines) : `step ${right.length} of ${RACE.steps}`);
  show("race-chart", chartOfLosses(title, lines, RACE.steps));
}

function howItEnded(first, ...lines) {
  const ends = lines.map(({losses}) => losses.at(-1));
  const [begun, right, broken] = [first, ...ends].map((loss) => plainNumber(loss, 3));
  return (
    `After ${RACE.steps} steps the loss is ${right} with the right backward, and ${broken} with the bug; both began at ` +
    `${begun}. ${ends[1] < 0.9 * first ? "It fell in spite of the bug" : "With the bug it hardly fell"}.`
  );
}
