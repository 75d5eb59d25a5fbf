"""The explanation of a wrong gradient: the small edit of the author's own code that makes it right."""

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, describe, describe_edit, describe_place
from npbert.gradcheck.explain.manners import MANNERS, in_manner
from npbert.gradcheck.explain.mend import TRIES, EditStep, Mending
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.trial import FAILED, Oracle, Outlook

__all__ = [
    "CHEAP",
    "FAILED",
    "KINDS",
    "MANNERS",
    "TRIES",
    "Code",
    "Finding",
    "Mending",
    "Oracle",
    "Outlook",
    "EditStep",
    "describe",
    "describe_edit",
    "describe_place",
    "in_manner",
]
