"""Charts of a report: curves by step as small drawings (SVG), with their values for whoever points at them."""

import html
import json
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.pages.html import escape
from npbert.plots.drawing import as_power

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 230, 58, 24, 10, 30
MANY = 80
"""From so many points on a curve is smoothed, and stands before its own raw points."""

Place = Callable[[float], float]

_BINS = 240
_SPAN = 40
_MOST_STOPS = 200


class Curve(NamedTuple):
    """A number by step: `name` for the key, `look` the class that draws it, and (step, value) of each row that has it,
    None for a value that was not finite. is_smoothed: whether many points are shown as a curve before a band."""

    name: str
    look: str
    points: Sequence[tuple[int, float | None]]
    is_smoothed: bool = False


def chart(
    title: str,
    curves: Sequence[Curve],
    *,
    baseline: float | None = None,
    rings: Sequence[tuple[int, float]] = (),
) -> str:
    """A <figure> of the curves over each other. baseline: a dashed line across. rings: points (step, value) that are
    marked, those of the best models. Where a number was not finite there is a cross at the upper edge."""
    known = [(curve, *_finite(curve.points)) for curve in curves]
    drawn = [(curve, steps, values, *_smooth(curve, values)) for curve, steps, values in known]
    x_of, x_ticks = _axis([step for curve in curves for step, _ in curve.points], LEFT, WIDTH - RIGHT, whole=True)
    heights = [_usual(values, smooth) for _, _, values, smooth, _ in drawn if len(values)]
    heights += [np.array([value for _, value in rings] + [baseline] * (baseline is not None), np.float64)]
    y_of, y_ticks = _axis(np.concatenate(heights).tolist(), HEIGHT - BOTTOM, TOP)
    parts = [f'<path class="grid" d="M{LEFT} {y_of(y):.1f}H{WIDTH - RIGHT}"/>' for y in y_ticks]
    parts += [f'<text class="y" x="{LEFT - 6}" y="{y_of(y) + 4:.1f}">{as_power(y)}</text>' for y in y_ticks]
    parts += [f'<text x="{x_of(x):.1f}" y="{HEIGHT - BOTTOM + 18}">{x:,.0f}</text>' for x in x_ticks]
    if baseline is not None:
        parts.append(f'<path class="baseline" d="M{LEFT} {y_of(baseline):.1f}H{WIDTH - RIGHT}"/>')
    for curve, steps, values, smooth, is_band in drawn:
        if is_band:
            parts.append(_path(*_extremes(steps, values), x_of, y_of, f"{curve.look} raw"))
        parts.append(_path(*_thinned(steps, smooth), x_of, y_of, curve.look))
        if len(steps) <= MANY // 2:
            parts += [_dot(curve.look, x_of(x), y_of(y), 2.5) for x, y in zip(steps, smooth, strict=True)]
    parts += [_dot("best", x_of(x), y_of(y), 6) for x, y in rings]
    lost = [(curve.name, [step for step, value in curve.points if value is None]) for curve in curves]
    for name, missing in lost:
        parts += [_cross(x_of(step), f"{name}: no number at step {step:,}") for step in _few(missing)]
    parts.append(f'<path class="here" d="M0 {TOP}V{HEIGHT - BOTTOM}"/>')
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" tabindex="0" aria-label="{escape(title)} by step">'
        f"{''.join(parts)}</svg>"
    )
    stops = json.dumps(_stops(drawn, x_of), separators=(",", ":"), ensure_ascii=False)
    said = "".join(
        f'<p class="lost">✕ {escape(name)}: no number at {len(missing):,} of its steps, first at {missing[0]:,}.</p>'
        for name, missing in lost
        if missing
    )
    head = f'<figure class="chart" data-stops="{html.escape(stops)}"><figcaption>{escape(title)}</figcaption>'
    return f'{head}{svg}<output aria-live="polite"></output>{said}</figure>'


def _finite(points: Sequence[tuple[int, float | None]]) -> tuple[Array, Array]:
    kept = [(step, value) for step, value in points if value is not None and abs(value) < 1e300]
    steps, values = np.array(kept, np.float64).reshape(-1, 2).T
    return steps, values


def _smooth(curve: Curve, values: Array) -> tuple[Array, bool]:
    """The mean of the values so far, the later ones counting more: over about a fortieth of all of them; and whether
    there is a difference."""
    if not curve.is_smoothed or len(values) < MANY:
        return values, False
    keep, mean, weight, smooth = 1 - _SPAN / len(values), 0.0, 0.0, []
    for value in values.tolist():
        mean, weight = keep * mean + (1 - keep) * value, keep * weight + 1 - keep
        smooth.append(mean / weight)
    return np.array(smooth), True


def _usual(values: Array, smooth: Array) -> Array:
    """What an axis must reach: the curve, and of the raw points all but the rarest, which may lie beyond it."""
    return np.concatenate([smooth, np.percentile(values, [1, 99])])


def _axis(values: Sequence[float], start: float, end: float, *, whole: bool = False) -> tuple[Place, list[float]]:
    """Where on the drawing a value lies, and three to six round values."""
    low, high = (min(values), max(values)) if len(values) else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        room = 0.5 if whole or not low else 0.1 * abs(low)
        low, high = low - room, high + room
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    every = next(times * unit for times in (1, 2, 5, 10) if times * unit >= rough)
    every = max(1.0, every) if whole else every
    ticks = [k * every for k in range(math.ceil(low / every), math.floor(high / every) + 1)]

    def place(value: float) -> float:
        share = (value - low) / (high - low)
        return start + (end - start) * min(1.03, max(-0.03, share))

    return place, ticks


def _extremes(steps: Array, values: Array) -> tuple[Array, Array]:
    """Of each stretch of many points the least and the greatest, in their order."""
    if len(steps) <= 2 * _BINS:
        return steps, values
    places: list[int] = []
    for part in np.array_split(np.arange(len(steps)), _BINS):
        places += sorted({int(part[values[part].argmin()]), int(part[values[part].argmax()])})
    return steps[places], values[places]


def _thinned(steps: Array, values: Array) -> tuple[Array, Array]:
    places = np.unique(np.linspace(0, len(steps) - 1, _BINS).round().astype(int)) if len(steps) else slice(0)
    return steps[places], values[places]


def _path(steps: Array, values: Array, x_of: Place, y_of: Place, look: str) -> str:
    pairs = (f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in zip(steps.tolist(), values.tolist(), strict=True))
    return f'<path class="curve {look}" d="M{"L".join(pairs)}"/>' if len(steps) > 1 else ""


def _dot(look: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="dot {look}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def _cross(x: float, title: str) -> str:
    return f'<path class="cross" d="M{x - 4:.1f} {TOP}l8 8m0-8l-8 8"><title>{escape(title)}</title></path>'


def _few(steps: Sequence[int]) -> list[int]:
    """At most twenty of them, the first and the last too."""
    return list(dict.fromkeys([*steps[:: 1 + len(steps) // 20], *steps[-1:]]))


def _stops(drawn: Sequence[tuple[Curve, Array, Array, Array, bool]], x_of: Place) -> dict[str, object]:
    """What is said where somebody points: the names of the curves, and for each of some steps its place and values."""
    rows: dict[int, dict[int, float]] = {}
    for number, (_, steps, _, smooth, _) in enumerate(drawn):
        count = min(len(steps), _MOST_STOPS)
        for place in np.unique(np.linspace(0, len(steps) - 1, count).round().astype(int)) if count else ():
            rows.setdefault(int(steps[place]), {})[number] = float(f"{smooth[place]:.4g}")
    names = [f"{curve.name}{', smoothed' if is_band else ''}" for curve, *_, is_band in drawn]
    values, last = [], dict.fromkeys(range(len(names)))
    for step, row in sorted(rows.items()):
        last |= row  # where a curve has no point, its last one still holds
        values.append([step, round(x_of(step), 1), *last.values()])
    return {"names": names, "rows": values}
