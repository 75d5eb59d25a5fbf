"""The proof: numbers that are exact, on which a layer runs as it is written."""

from npbert.gradcheck.exact.prove import prove, prove_vjp

__all__ = ["prove", "prove_vjp"]
