// The page begins here: the data is read, the sentence computed, and everything drawn.

import {explain} from "../math/explain.js";
import {makeModel, run} from "../math/run.js";
import {choose, compareWith, goToStep, newTrainer} from "./actions.js";
import {showAddress} from "./address.js";
import {showBreak} from "./break.js";
import {showCompare} from "./compare.js";
import {byId} from "./dom.js";
import {showFollowed} from "./follow.js";
import {showGuide} from "./guide.js";
import {showMap} from "./map.js";
import {showMove} from "./move.js";
import {showNotes} from "./notes.js";
import {showQuiz} from "./quiz.js";
import {showRoads} from "./roads.js";
import {showSentence} from "./sentence.js";
import {showSource} from "./source.js";
import {showStage} from "./stage.js";
import {state} from "./state.js";
import {showTape} from "./tape.js";
import {showTools} from "./tools.js";
import {showTrain} from "./train.js";
import {showUpdate} from "./update.js";

state.data = JSON.parse(byId("data").textContent);
state.data.examples.forEach((one) => Object.assign(one, {given: one.labels, isGuessed: state.data.is_guessed}));
state.model = makeModel(state.data);
state.trainer = newTrainer(state.data.optimizer.lr);
globalThis.npbert = {state, explain, run, goToStep, choose, compareWith}; // for the browser's console
showTools();
showSentence();
showMap();
showCompare();
showNotes();
showUpdate();
showStage();
showRoads();
showFollowed();
showSource();
showMove();
showTape();
showBreak();
showTrain();
showGuide();
showQuiz();
showAddress();
