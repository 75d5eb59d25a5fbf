"""The explanation of a wrong gradient: the small edit of the author's own code that makes it right."""

from npbert.gradcheck.explain.breaking import broken_from, nearness
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, shown
from npbert.gradcheck.explain.mend import Mended, Step, mend
from npbert.gradcheck.explain.trial import FAILED, Oracle, Outlook

__all__ = [
    "FAILED",
    "Code",
    "Finding",
    "Mended",
    "Oracle",
    "Outlook",
    "Step",
    "broken_from",
    "mend",
    "nearness",
    "shown",
]
