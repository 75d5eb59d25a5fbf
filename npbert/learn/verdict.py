"""Verdict: what is said of an answer, of one part of it or of the whole file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from npbert.gradcheck.explain import Finding

RIGHT, NOT_BEGUN, WRONG = "right", "not begun", "not right yet"


@dataclass(frozen=True)
class Verdict:
    """says: what is wrong, in a sentence. because: why, and what to look at, in paragraphs; of a right answer a remark.

    findings: what is wrong as data, each with its line and the edit that mends it. status: RIGHT, NOT_BEGUN or WRONG.
    part: the name of the part that is not right. printed: what the learner's code printed.
    """

    says: str = ""
    because: str = ""
    findings: tuple[Finding, ...] = ()
    status: str = WRONG
    part: str = ""
    printed: str = ""

    def because_of(self, *texts: str) -> "Verdict":
        """The same with these paragraphs, too."""
        return replace(self, because=paragraphs(self.because, *texts))


def paragraphs(*texts: str) -> str:
    """Those that are not empty, each a paragraph; what is said twice is said once."""
    return "\n\n".join(dict.fromkeys(part for text in texts if text for part in text.split("\n\n")))


def numbered(verdicts: Sequence[Verdict]) -> Verdict:
    """Several in one: the first, and in its `because` all others, numbered from 2 on, each with its own."""
    first, *others = verdicts
    told = [text for number, each in enumerate(others, 2) for text in (f"{number}. {each.says}", each.because)]
    return first.because_of(*told)
