"""Verdict: the result for one blank or the whole file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from npbert.gradcheck import Finding

RIGHT, NOT_BEGUN, WRONG = "right", "not begun", "not right yet"
_MOST_NAMES = 6


@dataclass(frozen=True)
class Verdict:
    """says: the mistake, in a sentence. because: the reason and advice, in paragraphs.
    findings: the mistakes as data, each with its line and its edit. status: RIGHT, NOT_BEGUN or WRONG.
    printed: the output of the learner's code.
    """

    says: str = ""
    because: str = ""
    findings: Sequence[Finding] = ()
    status: str = WRONG
    printed: str = ""

    def because_of(self, *texts: str) -> "Verdict":
        """Return the verdict with these paragraphs added, without repetitions."""
        paragraphs = "\n\n".join([self.because, *texts]).split("\n\n")
        return replace(self, because="\n\n".join(dict.fromkeys(filter(None, paragraphs))))


def are_right(names: Sequence[str]) -> str:
    """Return a sentence on these names; "" for none, or too many."""
    are = "is" if len(names) == 1 else "are"
    return f"{', '.join(names)} {are} right." if 0 < len(names) < _MOST_NAMES else ""


def sentence(text: str) -> str:
    """Return the text with a capital and a full stop; names such as dx, y or value_and_slope keep their case."""
    begun = text if re.match(r"(d\w*|[xyp]|\w+_\w+)\b", text) else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "?", ":")) or "\n" in begun else f"{begun}."
