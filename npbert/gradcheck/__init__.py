"""The check: is a backward the derivative of its forward? Two independent answers, for layers of your own too.

    layer = Linear(3, 4, Init(rng, dtype=np.float64))
    randomize(layer, rng)
    print(check_gradients(layer, rng.standard_normal((2, 3))))

With a random dy, the scalar S = Σ dy · y is a function of every number in the parameters and the inputs. What backward
says of a derivative of S is compared with what forward does when that number is moved a little:

- central finite differences: the slopes of S between x ± h, x ± 2h and x ± 3h, weighted so that the errors in h² and h⁴
  cancel. Subtracting close numbers costs digits: agreement ends at about 1e-12, or 1e-8 behind a padded score of −10⁴.
- the complex step: S(x + ih) = S(x) + ih S′(x) − …, so the derivative is Im S(x + ih) / h. Nothing is subtracted, h can
  be 1e-30, and agreement ends at about 1e-15. It needs a forward that complex numbers flow through: no `abs`, no
  `np.var`. (Squire & Trapp 1998.)

When one is wrong, the report begins with what is true of the error, in words: `Report.diagnosis`, made of `explain`,
which works on any two arrays.

Both are taken at the point that the layer and the inputs are at, so that point should hide nothing: `randomize` sees to
it. Finite differences reach 0.003 to either side; a kink nearer than that, as of ReLU at 0, makes them wrong, not
backward.
"""

from npbert.gradcheck.check import LossOf, check_directions, check_gradients, randomize
from npbert.gradcheck.diagnosis import Finding, explain
from npbert.gradcheck.report import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, Comparison, GradientError, Report

__all__ = [
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
    "FINITE_DIFFERENCES",
    "COMPLEX_STEP",
]
