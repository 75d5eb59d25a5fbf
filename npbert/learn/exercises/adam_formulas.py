"""Exercise 14: what people write for m, v and the step, to find out what an answer computes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from npbert.compute import Array

RIGHT_M, RIGHT_V, RIGHT_STEP = "β₁ m + (1 − β₁) g", "β₂ v + (1 − β₂) g²", "lr · m̂ / (√v̂ + eps)"


class Moment(NamedTuple):
    """One step that was taken: its number, the gradient, θ, m and v before it, and m and v after it."""

    t: int
    g: Array
    value: Array
    m: Array
    v: Array
    new_m: Array
    new_v: Array
    largest_v_hat: Array


class Settings(NamedTuple):
    """Of the optimiser. decay: λ, or 0."""

    lr: float
    beta1: float
    beta2: float
    eps: float
    decay: float = 0.0


Of = Callable[[Moment, Settings], Array]
Forms = dict[str, Of]

_SHARES: dict[str, Callable[[Settings], float]] = {
    "β₁": lambda s: s.beta1,
    "β₂": lambda s: s.beta2,
    "(1 − β₁)": lambda s: 1 - s.beta1,
    "(1 − β₂)": lambda s: 1 - s.beta2,
    "": lambda s: 1.0,
    "0": lambda s: 0.0,
    "(1 + β₁)": lambda s: 1 + s.beta1,
    "(1 + β₂)": lambda s: 1 + s.beta2,
    "β₁²": lambda s: s.beta1**2,
    "β₂²": lambda s: s.beta2**2,
    "(1 − β₁)²": lambda s: (1 - s.beta1) ** 2,
    "(1 − β₂)²": lambda s: (1 - s.beta2) ** 2,
    "lr": lambda s: s.lr,
}
_OF_M: Forms = {
    "g": lambda of, s: of.g,
    "g²": lambda of, s: of.g**2,
    "|g|": lambda of, s: np.abs(of.g),
    "(g + λ θ)": lambda of, s: of.g + s.decay * of.value,
    "(g − m)": lambda of, s: of.g - of.m,
    "θ": lambda of, s: of.value,
    "g/(√v + eps), with the old v,": lambda of, s: of.g / (np.sqrt(of.v) + s.eps),
    "mean(g)": lambda of, s: np.full_like(of.g, of.g.mean()),
}
_OF_V: Forms = {
    "g²": lambda of, s: of.g**2,
    "g": lambda of, s: of.g,
    "|g|": lambda of, s: np.abs(of.g),
    "g³": lambda of, s: of.g**3,
    "g⁴": lambda of, s: of.g**4,
    "√|g|": lambda of, s: np.sqrt(np.abs(of.g)),
    "(g + λ θ)²": lambda of, s: (of.g + s.decay * of.value) ** 2,
    "(g − m)², with the new m,": lambda of, s: (of.g - of.new_m) ** 2,
    "(g − m)², with the old m,": lambda of, s: (of.g - of.m) ** 2,
    "(g − old m) (g − new m)": lambda of, s: (of.g - of.m) * (of.g - of.new_m),
    "m²": lambda of, s: of.new_m**2,
    "(the old m)²": lambda of, s: of.m**2,
    "m": lambda of, s: of.new_m,
    "m · g": lambda of, s: of.new_m * of.g,
    "m̂²": lambda of, s: (of.new_m / (1 - s.beta1**of.t)) ** 2,
    "mean(g²)": lambda of, s: np.full_like(of.g, (of.g**2).mean()),
    "Σ g²": lambda of, s: np.full_like(of.g, (of.g**2).sum()),
    "θ²": lambda of, s: of.value**2,
}


_WHOLE_M: Forms = {
    "β₁ m + 1 − β₁ g": lambda of, s: s.beta1 * of.m + 1 - s.beta1 * of.g,
    "β₁ (m + (1 − β₁) g)": lambda of, s: s.beta1 * (of.m + (1 - s.beta1) * of.g),
}
_WHOLE_V: Forms = {
    "β₂ v + 1 − β₂ g²": lambda of, s: s.beta2 * of.v + 1 - s.beta2 * of.g**2,
    "max(β₂ v, |g|)": lambda of, s: np.maximum(s.beta2 * of.v, np.abs(of.g)),
    "max(β₂ v, g²)": lambda of, s: np.maximum(s.beta2 * of.v, of.g**2),
    "max(v, β₂ v + (1 − β₂) g²)": lambda of, s: np.maximum(of.v, s.beta2 * of.v + (1 - s.beta2) * of.g**2),
    "β₂ (v + (1 − β₂) g²)": lambda of, s: s.beta2 * (of.v + (1 - s.beta2) * of.g**2),
}


def _hat(beta: float, t: float) -> float:
    return 1 - beta**t


_ABOVE: Forms = {
    "m̂": lambda of, s: of.new_m / _hat(s.beta1, of.t),
    "m": lambda of, s: of.new_m,
    "g": lambda of, s: of.g,
    "m/(1 − β₂ᵗ)": lambda of, s: of.new_m / _hat(s.beta2, of.t),
    "m/(1 − β₁)": lambda of, s: of.new_m / (1 - s.beta1),
    "m/√(1 − β₁ᵗ)": lambda of, s: of.new_m / np.sqrt(_hat(s.beta1, of.t)),
    "m · (1 − β₁ᵗ)": lambda of, s: of.new_m * _hat(s.beta1, of.t),
    "m/β₁ᵗ": lambda of, s: of.new_m / s.beta1**of.t,
    "m/(1 + β₁ᵗ)": lambda of, s: of.new_m / (1 + s.beta1**of.t),
    "m/(1 − β₁ t)": lambda of, s: of.new_m / (1 - s.beta1 * of.t),
    "m/(1 − β₁)ᵗ": lambda of, s: of.new_m / (1 - s.beta1) ** of.t,
    "m/(1 − β₁ᵗ⁻¹)": lambda of, s: of.new_m / _hat(s.beta1, max(of.t - 1, 1)),
    "m/(1 − β₁ᵗ⁺¹)": lambda of, s: of.new_m / _hat(s.beta1, of.t + 1),
    "|m̂|": lambda of, s: np.abs(of.new_m) / _hat(s.beta1, of.t),
    "sign(m̂)": lambda of, s: np.sign(of.new_m),
    "m̂²": lambda of, s: (of.new_m / _hat(s.beta1, of.t)) ** 2,
    "(the old m)/(1 − β₁ᵗ)": lambda of, s: of.m / _hat(s.beta1, of.t),
    "(β₁ m̂ + (1 − β₁) g/(1 − β₁ᵗ))": lambda of, s: (s.beta1 * of.new_m + (1 - s.beta1) * of.g) / _hat(s.beta1, of.t),
}
_V_HATS: Forms = {
    "v̂": lambda of, s: of.new_v / _hat(s.beta2, of.t),
    "v": lambda of, s: of.new_v,
    "g²": lambda of, s: of.g**2,
    "m̂²": lambda of, s: (of.new_m / _hat(s.beta1, of.t)) ** 2,
    "[v/(1 − β₁ᵗ)]": lambda of, s: of.new_v / _hat(s.beta1, of.t),
    "[v/(1 − β₂)]": lambda of, s: of.new_v / (1 - s.beta2),
    "[v/(1 − β₂ᵗ⁻¹)]": lambda of, s: of.new_v / _hat(s.beta2, max(of.t - 1, 1)),
    "[v/(1 − β₂ᵗ⁺¹)]": lambda of, s: of.new_v / _hat(s.beta2, of.t + 1),
    "[v · (1 − β₂ᵗ)]": lambda of, s: of.new_v * _hat(s.beta2, of.t),
    "[v/(1 + β₂ᵗ)]": lambda of, s: of.new_v / (1 + s.beta2**of.t),
    "[v/√(1 − β₂ᵗ)]": lambda of, s: of.new_v / np.sqrt(_hat(s.beta2, of.t)),
    "[v/(1 − β₂ᵗ)²]": lambda of, s: of.new_v / _hat(s.beta2, of.t) ** 2,
    "(the old v)/(1 − β₂ᵗ)": lambda of, s: of.v / _hat(s.beta2, of.t),
    "(the largest v̂ so far)": lambda of, s: of.largest_v_hat,
    "max(v̂, g²)": lambda of, s: np.maximum(of.new_v / _hat(s.beta2, of.t), of.g**2),
    "mean(v̂)": lambda of, s: np.full_like(of.g, (of.new_v / _hat(s.beta2, of.t)).mean()),
}
_BELOW: dict[str, Callable[[Array, Moment, Settings], Array]] = {
    "(√{} + eps)": lambda v, of, s: np.sqrt(v) + s.eps,
    "√{}": lambda v, of, s: np.sqrt(v),
    "√({} + eps)": lambda v, of, s: np.sqrt(v + s.eps),
    "({} + eps)": lambda v, of, s: v + s.eps,
    "{}": lambda v, of, s: v,
    "(√{} − eps)": lambda v, of, s: np.sqrt(v) - s.eps,
    "(√{} + eps²)": lambda v, of, s: np.sqrt(v) + s.eps**2,
    "√({} + eps²)": lambda v, of, s: np.sqrt(v + s.eps**2),
    "(√{} + √eps)": lambda v, of, s: np.sqrt(v) + np.sqrt(s.eps),
    "(√{} + eps/√(1 − β₂ᵗ))": lambda v, of, s: np.sqrt(v) + s.eps / np.sqrt(_hat(s.beta2, of.t)),
    "(√{} + eps · √(1 − β₂ᵗ))": lambda v, of, s: np.sqrt(v) + s.eps * np.sqrt(_hat(s.beta2, of.t)),
    "(√{} + lr)": lambda v, of, s: np.sqrt(v) + s.lr,
    "(√{} + 1)": lambda v, of, s: np.sqrt(v) + 1,
    "max(√{}, eps)": lambda v, of, s: np.maximum(np.sqrt(v), s.eps),
    "({}² + eps)": lambda v, of, s: v**2 + s.eps,
}
_FACTORS: Forms = {
    "lr · ": lambda of, s: np.array(s.lr),
    "": lambda of, s: np.array(1.0),
    "−lr · ": lambda of, s: np.array(-s.lr),
    "lr² · ": lambda of, s: np.array(s.lr**2),
    "1/lr · ": lambda of, s: np.array(1 / s.lr),
    "(1 − lr) · ": lambda of, s: np.array(1 - s.lr),
    "lr/t · ": lambda of, s: np.array(s.lr / of.t),
    "lr/√t · ": lambda of, s: np.array(s.lr / np.sqrt(of.t)),
    "lr · t · ": lambda of, s: np.array(s.lr * of.t),
    "lr/2 · ": lambda of, s: np.array(s.lr / 2),
    "2 lr · ": lambda of, s: np.array(2 * s.lr),
    "lr · √(1 − β₂ᵗ) · ": lambda of, s: np.array(s.lr * np.sqrt(_hat(s.beta2, of.t))),
    "lr/√(1 − β₂ᵗ) · ": lambda of, s: np.array(s.lr / np.sqrt(_hat(s.beta2, of.t))),
    "lr/(1 − β₁ᵗ) · ": lambda of, s: np.array(s.lr / _hat(s.beta1, of.t)),
    "lr · (1 − β₁) · ": lambda of, s: np.array(s.lr * (1 - s.beta1)),
}


def written_for_m(moments: Sequence[Moment], settings: Settings) -> str:
    """The formula by which m became what it is after each of these steps, or ""."""
    return _mean(moments, settings, "m", _OF_M, [of.m for of in moments], [of.new_m for of in moments])


def written_for_v(moments: Sequence[Moment], settings: Settings) -> str:
    """As written_for_m, for v."""
    return _mean(moments, settings, "v", _OF_V, [of.v for of in moments], [of.new_v for of in moments])


def _mean(
    moments: Sequence[Moment], settings: Settings, name: str, forms: Forms, old: list[Array], new: list[Array]
) -> str:
    right = "β₁" if name == "m" else "β₂"
    wanted, before = np.stack(new), np.stack(old)
    found: list[tuple[int, str]] = []
    for x, form in forms.items():
        with np.errstate(all="ignore"):
            added = np.stack([form(of, settings) for of in moments])
        for (share, of_old), (of_new, weight) in itertools.product(_SHARES.items(), _SHARES.items()):
            if of_new == "0" or not same(of_old(settings) * before + weight(settings) * added, wanted):
                continue
            cost = (share != right) + (of_new != f"(1 − {right})") + (x != next(iter(forms)))
            first = "" if share == "0" else f"{share} {name} + ".lstrip()
            found.append((cost, f"{first}{of_new} {x}".replace("  ", " ").strip().rstrip(",")))
    for text, form in (_WHOLE_M if name == "m" else _WHOLE_V).items():
        if same(np.stack([form(of, settings) for of in moments]), wanted):
            found.append((3, text))
    return min(found, default=(0, ""))[1] or _in_numbers(name, forms, moments, before, wanted)


def _in_numbers(name: str, forms: Forms, moments: Sequence[Moment], old: Array, new: Array) -> str:
    """How much of the old mean there is, and how much of what is new, if these are all: 0.9 m + 0.1 g."""
    text, form = next(iter(forms.items()))
    added = np.stack([form(of, _NO_SETTINGS) for of in moments])
    matrix = np.stack([old.ravel(), added.ravel()], axis=1)
    (share, weight), *_ = np.linalg.lstsq(matrix, new.ravel(), rcond=None)
    return f"{share:.4g} {name} + {weight:.4g} {text}" if same(share * old + weight * added, new) else ""


_NO_SETTINGS = Settings(0.0, 0.0, 0.0, 0.0)


def written_for_the_step(moments: Sequence[Moment], settings: Settings, steps: Sequence[Array]) -> str:
    """The formula of what was subtracted from θ in each of these steps, or ""."""
    taken, eps = np.stack(steps), settings.eps
    best: tuple[int, str] = (9, "")
    with np.errstate(all="ignore"):
        one = [1] * taken[0].ndim
        factors = {name: np.stack([by(of, settings).reshape(one) for of in moments]) for name, by in _FACTORS.items()}
        for cost, above, below, ratio in _ratios(moments, settings):
            for more, of, to, how in ((0, taken, ratio, "{}{}"), (1, taken, ratio + eps, "{}({} + eps)"),
                                      (1, taken - eps, ratio, "{}{} + eps")):  # fmt: skip
                if cost + more >= best[0] or not _is_multiple(of, to):
                    continue
                for text, factor in factors.items():
                    here = cost + more + (text != "lr · ")
                    if here < best[0] and same(factor * to, of):
                        best = here, how.format(text, f"{above}{below}")
    return best[1]


def _is_multiple(one: Array, other: Array) -> bool:
    """Whether the first two numbers of each are in proportion: a quick look, before all of them are."""
    (a, b), (c, d) = one.flat[:2], other.flat[:2]
    return abs(a * d - b * c) <= 1e-8 * abs(a * d)


def _ratios(moments: Sequence[Moment], settings: Settings) -> Iterator[tuple[int, str, str, Array]]:
    """How far from the right one, what is above and what is below the line, and their quotient in each step."""
    aboves = {text: np.stack([form(of, settings) for of in moments]) for text, form in _ABOVE.items()}
    for place, (text, array) in enumerate(aboves.items()):
        yield 1 + (place > 0), text, "", array
    for v, v_hat in _V_HATS.items():
        for form, below in _BELOW.items():
            divisor = np.stack([below(v_hat(of, settings), of, settings) for of in moments])
            cost = (v != "v̂") + (form != "(√{} + eps)")
            for place, (text, array) in enumerate(aboves.items()):
                yield cost + (place > 0), text, " / " + form.format(v), array / divisor


def same(one: Array, other: Array) -> bool:
    """In all but the last digits."""
    return one.shape == other.shape and bool(np.abs(one - other).max() <= 1e-9 * np.abs(other).max())
