"""The proof: exact numbers on which a layer's code runs unchanged."""

from npbert.gradcheck.exact.prove import prove, prove_vjp

__all__ = ["prove", "prove_vjp"]
