// All that the page asks the arithmetic for.

export {makeModel, run} from "./run.js";
export {explain} from "./explain.js";
export {lossAt, lossWith, difference, complexStep, complexStepIn, errorsByStep} from "./differences.js";
export {checkAll, checking} from "./check.js";
export {BUGS} from "./bugs.js";
export {makeTrainer, resetParameters, uniformNumbers} from "./train.js";
export {linesOf} from "./lines.js";
