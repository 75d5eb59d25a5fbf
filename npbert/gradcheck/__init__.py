"""The gradient check: proves that a backward is the derivative of its forward, with two estimates as cross-checks.

    layer = Linear(3, 4, Init(rng, dtype=np.float64))
    randomize(layer, rng)
    print(check_gradients(layer, rng.standard_normal((2, 3))))

- The proof (`prove`; `prove_vjp` for two plain functions): forward runs once on exact numbers a + bε, which carry a
  derivative along, and backward once. Two integers have to be equal: see `exact/prove.py`.
- Central finite differences of S = Σ dy · y, with a random dy. They subtract close numbers, so they agree up to 1e-12.
- The complex step: S(x + ih) = S(x) + ih S′(x) − …, so the derivative is Im S(x + ih) / h, right to the last digit. It
  needs a forward for complex numbers: no `abs`, no `np.var`. (Squire & Trapp 1998.)

The report explains a wrong gradient: `Report.diagnosis`. `explain` compares any two arrays.

The order of `check_gradients`, with the file of each step:

1. Your code becomes a layer, by the first form that fits: a layer of npbert's kind, an autograd engine (`engine.py`),
   an object with state or two functions (`calls.py`), other functions (`layer_of.py`). Each is a `Form`
   (`forms.py`), and one rule finds its gradients (`gradients.py`).
2. Forward is compared with the reference, if there is one (`forward.py`).
3. The layer keeps its promises (`contract.py`). This gives backward's gradients, for a random dy (`function.py`).
4. The proof (`exact/prove.py`; its order is said there). Two slopes on floats confirm it.
5. If it is refuted, exact arithmetic gives the right gradients (`exact/digits.py`).
6. If there is no proof, or floats contradict it, each number is compared with estimates (`estimates.py`).
7. A wrong gradient is explained (`explain/findings.py`).

Afterwards the program is as before (`restoring.py`).

The estimates are taken at the current point of the layer and inputs. `randomize` moves it to one that hides no
mistake. Finite differences reach 0.003 to either side, and are wrong at a nearer kink.
"""

from npbert.gradcheck.check import LossOf, assert_proved, check_directions, check_gradients, randomize
from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.exact.prove import prove, prove_vjp
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.numbers import explain
from npbert.gradcheck.function import ScalarFunction
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
    PromiseError,
    Proof,
    Report,
    WrongShapeError,
)

__all__ = [
    "prove",
    "prove_vjp",
    "Proof",
    "PROVED",
    "REFUTED",
    "NOT_PROVED",
    "assert_proved",
    "check_gradients",
    "check_directions",
    "LossOf",
    "randomize",
    "Report",
    "Comparison",
    "GradientError",
    "PromiseError",
    "WrongShapeError",
    "Call",
    "ScalarFunction",
    "promised_gradients",
    "Finding",
    "explain",
    "TOLERANCES",
    "EXACT",
    "FINITE_DIFFERENCES",
    "COMPLEX_STEP",
]
