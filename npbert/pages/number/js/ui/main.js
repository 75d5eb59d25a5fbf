// The page begins here: the data is read, the sentence computed, and everything drawn.

import {complexStepIn, explain, makeModel, run} from "../math/index.js";
import {showAddress} from "./address.js";
import {choose, compareWith, goToStep, newTrainer, valuesOf} from "./actions.js";
import {showBreak} from "./break.js";
import {showCompare} from "./compare.js";
import {byId} from "./dom.js";
import {showFollowed} from "./follow.js";
import {showGuide} from "./guide.js";
import {showNotes} from "./notes.js";
import {showPaths} from "./paths.js";
import {showRoads} from "./roads.js";
import {showMove} from "./move.js";
import {showProof} from "./proof.js";
import {showQuiz} from "./quiz.js";
import {showSentence} from "./sentence.js";
import {showSource} from "./source.js";
import {showStage} from "./stage.js";
import {state} from "./state.js";
import {showStepSize} from "./step_size.js";
import {showTabs} from "./tabs.js";
import {showTape} from "./tape.js";
import {showToolbars} from "./toolbar.js";
import {showTools} from "./tools.js";
import {showTour} from "./tour.js";
import {showTrain} from "./train.js";
import {showTransport} from "./transport.js";

state.data = JSON.parse(byId("data").textContent);
state.model = makeModel(state.data);
state.exported = valuesOf(state.model);
state.trainer = newTrainer();
// for whoever opens the browser's console
globalThis.npbert = {state, explain, run, slope: complexStepIn, goToStep, choose, compareWith};
const shown = [
  showTools, showTabs, showSentence, showCompare, showNotes, showTransport, showStage, showRoads, showFollowed,
  showPaths, showSource, showTape, showMove, showStepSize, showBreak, showTrain, showGuide, showQuiz, showTour,
  showAddress, showToolbars,
];
shown.forEach((show) => show());
showProof();
