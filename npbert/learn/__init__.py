"""Learn backpropagation by writing it: exercises, and a check that explains mistakes.

The files of the exercises come from the library's source. A learner's answer runs in a separate process, and its
numbers are compared with the library's. If they differ, a search finds the small edit that makes them right.
"""

from npbert.learn.exercise import Exercise
from npbert.learn.folder import FOLDER, exercise_of, find, folder_of, option_of, write_missing
from npbert.learn.notebook import load_ipython_extension
from npbert.learn.process import check, judge_file
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

__all__ = [
    "Exercise",
    "FOLDER",
    "folder_of",
    "write_missing",
    "exercise_of",
    "find",
    "option_of",
    "check",
    "RIGHT",
    "NOT_BEGUN",
    "WRONG",
    "Verdict",
    "judge_file",
    "load_ipython_extension",
]
