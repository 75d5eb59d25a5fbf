"""Dropout and activations gone wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import GELU, Array, Dropout, TanhGELU


class BackwardScaledByOneOverP(Dropout):
    """Keeps with probability 1 − p, and scales as if it were p: right for p = 0.5."""

    def backward(self, dy: Array, keep: Array | None) -> Array:
        return dy if keep is None else dy * keep * (1 / self.p)


class ScaledByOneOverP(Dropout):
    """Forward and backward agree on the wrong factor, so the mean of the output is off."""

    def forward(self, x: Array, rng: np.random.Generator | None = None) -> tuple[Array, Array | None]:
        y, keep = super().forward(x, rng)
        return (y, None) if keep is None else (x * keep * (1 / self.p), keep)

    def backward(self, dy: Array, keep: Array | None) -> Array:
        return dy if keep is None else dy * keep * (1 / self.p)


class ScaledInEvaluation(Dropout):
    """Both conventions at once: 1/(1 − p) while training, and 1 − p in evaluation."""

    def forward(self, x: Array, rng: np.random.Generator | None = None) -> tuple[Array, Array | None]:
        return super().forward(x if rng is not None else x * (1 - self.p), rng)


class ActiveInEvaluation(Dropout):
    """Drops even when no generator is handed in."""

    def forward(self, x: Array, rng: np.random.Generator | None = None) -> tuple[Array, Array | None]:
        return super().forward(x, np.random.default_rng(0) if rng is None else rng)


class ReturnForgotten(Dropout):
    def backward(self, dy: Array, keep: Array | None) -> None:  # type: ignore[override]
        super().backward(dy, keep)


class DerivativeOfTheTanhForm(GELU):
    def forward(self, x: Array) -> tuple[Array, Any]:
        return super().forward(x)[0], TanhGELU().forward(x)[1]


class DerivativeOfTheErfForm(TanhGELU):
    def forward(self, x: Array) -> tuple[Array, Any]:
        return super().forward(x)[0], GELU().forward(x)[1]


class ProductRuleCutShort(GELU):
    """y′ = Φ(x): x is also inside Φ."""

    def forward(self, x: Array) -> tuple[Array, Any]:
        return super().forward(x)[0], self.cdf(x)


class ProductRuleOfTheTanhFormCutShort(TanhGELU):
    """The same mistake in the other form."""

    def forward(self, x: Array) -> tuple[Array, Any]:
        y, _ = super().forward(x)
        return y, y / x
