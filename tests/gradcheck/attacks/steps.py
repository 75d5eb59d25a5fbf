"""Wrong backwards of steps, and of numbers other than float64."""

import numpy as np

from tests.gradcheck.attacks.formulas import TWO, UP, X, of_x

STEPS = {
    "floor": (lambda x: np.floor(x) * x, of_x(lambda x: 2 * x), TWO + 0.5),
    "a remainder": (lambda x: x % 1, of_x(lambda x: 0 * x), UP + 0.25),
    "np.mod": (lambda x: np.mod(x, 3) * 2, of_x(lambda x: 0 * x), UP + 0.25),
    "//": (lambda x: x // 1 * x, of_x(lambda x: 2 * x), UP + 0.25),
    "fmod": (lambda x: np.fmod(x, 2), of_x(lambda x: 0 * x), UP + 0.25),
    "divmod": (lambda x: divmod(x, 2)[1], of_x(lambda x: 0 * x), UP + 0.25),
    "modf": (lambda x: np.modf(x)[0], of_x(lambda x: 0 * x), UP + 0.25),
    "round": (lambda x: np.round(x, 1) * x, of_x(lambda x: 2 * x), UP),
    "rint": (lambda x: np.rint(x) * x, of_x(lambda x: 2 * x), UP),
    "trunc": (lambda x: x - np.trunc(x), of_x(lambda x: 0 * x), UP + 0.25),
    "sign": (lambda x: np.sign(x) * x, of_x(lambda x: 0 * x + 1), X),
    "heaviside": (lambda x: np.heaviside(x, 0.5) * x, of_x(lambda x: 0 * x + 1), X),
    "copysign": (lambda x: np.copysign(x, -1.0), of_x(lambda x: 0 * x - 1), X),
    "frexp": (lambda x: np.ldexp(*np.frexp(x)), of_x(lambda x: 0 * x), X),
    "equal to a constant": (lambda x: np.where(x == 0.5, 0.5, x), of_x(lambda x: x != 0.5), UP),
    "beyond a bound": (lambda x: np.clip(x, -0.5, 0.5), of_x(lambda x: np.abs(x) <= 1), X),
    "the other of two": (np.maximum, lambda dy, x, z: (dy * (x < z), dy * (x >= z)), X, X[::-1].copy()),
}
"""Steps have slope 0, and between them there is what is left."""

THIN = X.astype(np.float32)
NARROW = {
    "cubes of float32": (lambda x: x**3 if x.dtype == np.float32 else x**2, of_x(lambda x: 2 * x), THIN),
    "by the width": (lambda x: x**3 if x.itemsize == 4 else x**2, of_x(lambda x: 2 * x), THIN),
    "by ε": (lambda z: z * z if np.finfo(z.dtype).eps > 1e-9 else 2 * z, lambda dy, z: 2 * dy, TWO.astype("f4")),
    "a cast": (lambda x: np.tanh(x.astype(np.float32)), of_x(lambda x: 1.1 * (1 - np.tanh(x) ** 2)), X),
    "a cast of dy": (np.tanh, lambda dy, x: 0.9 * dy.astype(np.float32) * (1 - np.tanh(x) ** 2), X),
    "half": (lambda x: x.astype(np.float16) * x, of_x(lambda x: 3 * x), X),
    "imaginary": (lambda x: x * x, of_x(lambda x: 2 * x + 1j), X),
    "the absolute value of complex numbers": (lambda x: np.abs(x + 1j), of_x(lambda x: x / np.abs(x)), X),
    "imaginary parts": (lambda x: ((1 + 1j) * x * x).imag, of_x(lambda x: -2 * x), X),
}
"""float32 and complex numbers are other numbers than float64."""
