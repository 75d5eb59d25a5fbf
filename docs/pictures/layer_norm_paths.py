"""Draws layer_norm_paths.svg: how one x reaches the x̂ of its row. `python docs/pictures/layer_norm_paths.py`

The paths are those of npbert/layers/layer_norm.py, and the numbers those of docs/05-layer-norm.md. Each path has a
color and a kind of line, so that it can be told by either.
"""

import math
from pathlib import Path
from xml.sax.saxutils import escape

X, GAMMA, DY = [2.0, 4.0, 1.0, 5.0], [1.0, 2.0, 0.5, 1.0], [1.5, -0.5, 2.0, 1.2]
INK, PALE, PAPER = "#1a1a1a", "#b5b0a4", "#fdfcf9"
PATHS = {"directly": ("#0072b2", ""), "through μ": ("#c04a00", "9 5"), "through σ": ("#00785a", "2 5")}
FORMULAS = {"directly": "dx̂ / σ", "through μ": "− mean(dx̂) / σ", "through σ": "− x̂ · mean(dx̂ · x̂) / σ"}
WIDTH, HEIGHT = 1000, 430
CHOSEN = 1  # the x whose paths are drawn strongly
LEFT, MIDDLE, RIGHT = 70, 245, 420  # of x, of μ and σ, of x̂
ROWS = [92, 172, 252, 332]
MU_Y, SIGMA_Y = 40, 384
BASE, STEP, SCALE = 258, 112, 105  # of the bars: where 0 is, from one x to the next, how high 1 is


def text(x: float, y: float, words: str, color: str = INK, size: int = 16, style: str = "", at: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" fill="{color}" font-size="{size}" text-anchor="{at}" {style}>{escape(words)}</text>'


def node(x: float, y: float, words: str, color: str) -> str:
    circle = f'<circle cx="{x}" cy="{y}" r="23" fill="#fff" stroke="{color}" stroke-width="2"/>'
    return circle + text(x, y + 6, words, INK, 18)


def arrow(start: tuple[float, float], end: tuple[float, float], path: str, *, strong: bool) -> str:
    """From the edge of one node to the edge of another."""
    color, dashes = PATHS[path]
    length = math.dist(start, end)
    across, down = ((b - a) / length for a, b in zip(start, end, strict=True))
    x1, y1, x2, y2 = start[0] + 24 * across, start[1] + 24 * down, end[0] - 28 * across, end[1] - 28 * down
    look = f'stroke="{color}" stroke-width="2.6"' if strong else f'stroke="{PALE}" stroke-width="1.2"'
    head = f'marker-end="url(#{(color if strong else PALE)[1:]})"'
    dashed = f'stroke-dasharray="{dashes or "none"}"'
    return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" fill="none" {look} {dashed} {head}/>'


def paths() -> list[str]:
    """Left: from each x to each x̂, with the paths of one x drawn strongly."""
    pale, strong = [], []
    for i, y in enumerate(ROWS):
        parts = strong if i == CHOSEN else pale
        parts.append(arrow((LEFT, y), (RIGHT, y), "directly", strong=i == CHOSEN))
        for path, place in (("through μ", MU_Y), ("through σ", SIGMA_Y)):
            parts.append(arrow((LEFT, y), (MIDDLE, place), path, strong=i == CHOSEN))
            strong.append(arrow((MIDDLE, place), (RIGHT, y), path, strong=True))
    nodes = [node(LEFT, y, f"x{'₁₂₃₄'[i]}", INK if i == CHOSEN else PALE) for i, y in enumerate(ROWS)]
    nodes += [node(RIGHT, y, f"x̂{'₁₂₃₄'[i]}", INK) for i, y in enumerate(ROWS)]
    nodes += [node(MIDDLE, MU_Y, "μ", PATHS["through μ"][0]), node(MIDDLE, SIGMA_Y, "σ", PATHS["through σ"][0])]
    return [*pale, *strong, *nodes]


def contributions() -> dict[str, list[float]]:
    """What each path contributes to each dx, as in the chapter."""
    d = len(X)
    mu = sum(X) / d
    sigma = math.sqrt(sum((x - mu) ** 2 for x in X) / d)
    x_hat = [(x - mu) / sigma for x in X]
    dx_hat = [g * dy for g, dy in zip(GAMMA, DY, strict=True)]
    shift = sum(dx_hat) / d
    stretch = sum(a * b for a, b in zip(dx_hat, x_hat, strict=True)) / d
    return {
        "directly": [a / sigma for a in dx_hat],
        "through μ": [-shift / sigma] * d,
        "through σ": [-a * stretch / sigma for a in x_hat],
    }


def bars() -> list[str]:
    """Right: what each path contributes, and the sum, for each x."""
    left = 540
    parts = [text(left - 14, 34, "what each path contributes", INK, 17, 'font-weight="bold"', "start")]
    for number, (path, (color, dashes)) in enumerate(PATHS.items()):
        y = 62 + 24 * number
        look = f'stroke="{color}" stroke-width="3" stroke-dasharray="{dashes or "none"}"'
        parts.append(f'<path d="M{left - 14} {y - 5} H{left + 34}" {look}/>')
        parts.append(text(left + 46, y, f"{path}:  {FORMULAS[path]}", color, 15, at="start"))
    back = contributions()
    parts.append(f'<path d="M{left - 14} {BASE} H{left + 4 * STEP - 22}" stroke="{INK}" stroke-width="1"/>')
    for i in range(len(X)):
        x = left + i * STEP
        for number, (path, (color, _)) in enumerate(PATHS.items()):
            parts.append(bar(x + 20 * number, back[path][i], color, "solid"))
        parts.append(bar(x + 64, sum(of_path[i] for of_path in back.values()), INK, "outline"))
        parts.append(text(x + 38, HEIGHT - 38, f"dx{'₁₂₃₄'[i]}", INK, 17))
    return [*parts, text(left + 2 * STEP - 18, HEIGHT - 12, "in this order; outlined: their sum, dx", INK, 14)]


def bar(x: float, value: float, color: str, kind: str) -> str:
    height = abs(value) * SCALE
    top = BASE - height if value > 0 else BASE
    look = f'fill="{color}"' if kind == "solid" else f'fill="#fff" stroke="{color}" stroke-width="2"'
    return f'<rect x="{x}" y="{top:.1f}" width="16" height="{height:.1f}" {look}/>'


def main() -> None:
    heads = "".join(
        f'<marker id="{color[1:]}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="6" markerHeight="6" '
        f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{color}"/></marker>'
        for color in (PALE, *(color for color, _ in PATHS.values()))
    )
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="{PAPER}"/>'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" role="img">\n'
        "<title>The three paths from an x to the x̂ of its row, and what each contributes to dx</title>\n"
        f"<defs>{heads}</defs>\n" + "\n".join([paper, *paths(), *bars()]) + "\n</svg>\n"
    )
    Path(__file__).with_suffix(".svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
