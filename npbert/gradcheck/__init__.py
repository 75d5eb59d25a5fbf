"""The check: is a backward the derivative of its forward? Proved, with two estimates beside. For your layers, too.

    layer = Linear(3, 4, Init(rng, dtype=np.float64))
    randomize(layer, rng)
    print(check_gradients(layer, rng.standard_normal((2, 3))))

- The proof (`prove`; `prove_vjp` for two plain functions): forward runs once on exact numbers a + bε, which carry a
  derivative along, and backward once; then two integers are equal, or the backward is wrong. There is no tolerance,
  and nothing hides: see `exact/prove.py`. But it knows formulas, not floats.
- Central finite differences: with a random dy, S = Σ dy · y is a function of every number. The slopes of S between x ±
  h, x ± 2h and x ± 3h are weighted so that the errors in h² and h⁴ cancel. Subtracting close numbers costs digits:
  agreement ends at about 1e-12, or 1e-8 behind a padded score of −10⁴.
- The complex step: S(x + ih) = S(x) + ih S′(x) − …, so the derivative is Im S(x + ih) / h. Nothing is subtracted, h
  can be 1e-30, and agreement ends at about 1e-15. It needs a forward that complex numbers flow through: no `abs`, no
  `np.var`. (Squire & Trapp 1998.)

When one is wrong, the report begins with what is true of the error, in words: `Report.diagnosis`, made of `explain`,
which works on any two arrays.

The estimates are taken at the point that the layer and the inputs are at, so that point should hide nothing:
`randomize` sees to it. Finite differences reach 0.003 to either side; a kink nearer than that, as of ReLU at 0, makes
them wrong, not backward.
"""

from npbert.gradcheck.check import LossOf, check_directions, check_gradients, randomize
from npbert.gradcheck.exact import prove, prove_vjp
from npbert.gradcheck.explain import Finding
from npbert.gradcheck.explain.numbers import explain
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    EXACT,
    FINITE_DIFFERENCES,
    NOT_PROVED,
    PROVED,
    REFUTED,
    TOLERANCES,
    Comparison,
    GradientError,
    Proof,
    Report,
)

__all__ = [
    "prove",
    "prove_vjp",
    "Proof",
    "PROVED",
    "REFUTED",
    "NOT_PROVED",
    "check_gradients",
    "check_directions",
    "LossOf",
    "randomize",
    "Report",
    "Comparison",
    "GradientError",
    "Finding",
    "explain",
    "TOLERANCES",
    "EXACT",
    "FINITE_DIFFERENCES",
    "COMPLEX_STEP",
]
