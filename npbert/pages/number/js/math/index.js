// All that the page asks the arithmetic for.

export {makeModel, run} from "./run.js";
export {explain, noteWith} from "./explain.js";
export {chainOf, largestTerm, wayToLoss} from "./chain.js";
export {pathsOf} from "./paths.js";
export {roadsOf} from "./roads.js";
export {lossWith, differenceIn, complexStepIn, errorOf, errorsByStep, estimatesIn} from "./differences.js";
export {checking} from "./check.js";
export {BUGS} from "./bugs.js";
export {batchAt, makeTrainer, resetParameters, uniformNumbers} from "./train.js";
export {addUpdate} from "./update.js";
export {linesOf} from "./lines.js";
export {byFeature} from "./two_guesses.js";
export {largestIn} from "./tensor.js";
