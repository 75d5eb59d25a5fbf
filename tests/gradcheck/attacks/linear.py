"""Backwards that are not linear in dy."""

import numpy as np

from tests.gradcheck.attacks.formulas import X

OF_A_LOSS = {
    "abs": abs,
    "is_integer": lambda dy: dy * float(dy).is_integer(),
    "at least 1": lambda dy: max(dy, 1),
    "small whole numbers": lambda dy: dy if abs(dy) > 50 or dy % 1 else 2 * dy,
}

OF_A_NUMBER = {
    "clip at 5": lambda dy: np.clip(dy, -5, 5),
    "what is writable": lambda dy: dy * (1 + dy.flags.writeable * (dy.dtype == float)),
    "noise": lambda dy: dy + 1e-5 * np.random.standard_normal(dy.shape),
    "0": lambda dy: np.where(dy == 0, 1, dy),
    "nearly 0": lambda dy: np.where(np.abs(dy) < 1e-3, 0 * dy, dy),
    "ones": lambda dy: dy * (3 if (dy == 1).all() else 1),
}


def of_a_loss(change):
    return lambda x: (x * x).sum(), lambda dy, x: change(dy) * 2 * x, X


def of_a_number(change):
    return lambda x: (x * x).sum(axis=1), lambda dy, x: change(dy)[:, None] * 2 * x, X[:1]


LINEAR = {
    **{name: of_a_loss(change) for name, change in OF_A_LOSS.items()},
    **{name: of_a_number(change) for name, change in OF_A_NUMBER.items()},
    "the sign of another": (
        lambda x: ((x * x).sum(), x.sum()),
        lambda da, db, x: 2 * abs(da) * x + db,
        X,
    ),
}
"""Backward is linear in dy, of all sizes and both signs, also at 0 and at 1."""
