"""The proof: is a backward the derivative of its forward? Two independent answers, for layers of your own too.

    from npbert.gradcheck import check_gradients
    print(check_gradients(layer, x))

With a random dy, the scalar S = Σ dy · y is a function of every number in the parameters and the inputs. What backward
says of a derivative of S is compared with what forward does when that number is moved a little:

- central finite differences: the slope of S between x − h and x + h, and those over 2h and 3h, weighted so that the
  errors in h² and h⁴ cancel. Subtracting two close numbers costs digits, so agreement ends at about 1e-10.
- the complex step, Im S(x + ih) / h: nothing is subtracted, so h can be 1e-30, and agreement ends at about 1e-15. It
  needs a forward that complex numbers flow through: no `abs`, no `np.var`. (Squire & Trapp 1998.)
"""

from npbert.gradcheck.check import LossOf, check_directions, check_gradients, randomize
from npbert.gradcheck.report import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, Comparison, GradientError, Report

__all__ = [
    "check_gradients",
    "check_directions",
    "LossOf",
    "randomize",
    "Report",
    "Comparison",
    "GradientError",
    "TOLERANCES",
    "FINITE_DIFFERENCES",
    "COMPLEX_STEP",
]
