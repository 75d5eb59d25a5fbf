"""The proof: numbers that are exact, on which a layer runs as it is written."""

from npbert.gradcheck.exact.degree import degree_of
from npbert.gradcheck.exact.locate import WrongArray, gradients_with_digits
from npbert.gradcheck.exact.prove import NOT_PROVED, PROVED, REFUTED, Proof, prove, prove_vjp

__all__ = [
    "prove",
    "prove_vjp",
    "Proof",
    "WrongArray",
    "PROVED",
    "REFUTED",
    "NOT_PROVED",
    "degree_of",
    "gradients_with_digits",
]
