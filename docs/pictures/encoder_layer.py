"""Draws encoder_layer.svg: forward, backward and the tape of one encoder layer. `python docs/pictures/encoder_layer.py`

The steps are those of npbert/blocks/encoder_layer.py: above forward, from left to right; below backward, from right to
left; between them the tape, on which each layer leaves what its backward will need.
"""

from pathlib import Path
from xml.sax.saxutils import escape

FORWARD, BACKWARD, TAPE, INK = "#0072b2", "#c04a00", "#666666", "#1a1a1a"  # told apart by the color-blind, too
WIDTH, HEIGHT = 1000, 380
TOP, MIDDLE, BOTTOM = 88, 188, 288  # of forward, the tape and backward
LAYERS = {"attention": 188, "attention_norm": 432, "feed_forward": 626, "output_norm": 870}
KEPT = {"attention": "x, q, k, v, p, c", "attention_norm": "x̂, σ", "feed_forward": "h, slope, a", "output_norm": "x̂, σ"}
HALF = 67  # of a layer's width
AFTER = {"attention": 316, "feed_forward": 756}  # where forward adds, and where backward's ds goes two ways
BEFORE = {"attention": 96, "feed_forward": 529}  # where forward goes two ways, and where backward adds


def text(x: float, y: float, words: str, color: str = INK, size: int = 15, style: str = "") -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{color}" font-size="{size}" text-anchor="middle" {style}>{escape(words)}</text>'
    )


def box(x: float, y: float, half: float, words: str, color: str) -> str:
    outline = f'<rect x="{x - half}" y="{y - 20}" width="{2 * half}" height="40" rx="7" fill="#fff" stroke="{color}"'
    return f'{outline} stroke-width="2"/>' + text(x, y + 5, words)


def plus(x: float, y: float, color: str) -> str:
    circle = f'<circle cx="{x}" cy="{y}" r="13" fill="#fff" stroke="{color}" stroke-width="2"/>'
    return circle + text(x, y + 6, "+", size=19)


def arrow(path: str, color: str, style: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2" {style} marker-end="url(#{color[1:]})"/>'


def forward() -> list[str]:
    parts = [text(72, 30, "forward", FORWARD, 17, 'font-weight="bold"')]
    parts += [text(40, TOP + 6, "x", INK, 19), text(964, TOP + 6, "y", INK, 19)]
    edges = [52, *(edge for name, x in LAYERS.items() for edge in (x - HALF, x + HALF)), 952]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        parts.append(arrow(f"M{start} {TOP} H{end - 3}", FORWARD))
    for name, end in AFTER.items():
        start = BEFORE[name]
        parts.append(arrow(f"M{start} {TOP} V{TOP - 42} H{end} V{TOP - 16}", FORWARD))
        parts.append(text((start + end) / 2, TOP - 48, "past it", FORWARD, 13))
        parts.append(plus(end, TOP, FORWARD))
    return [*parts, *(box(x, TOP, HALF, name, FORWARD) for name, x in LAYERS.items())]


def backward() -> list[str]:
    parts = [text(80, HEIGHT - 16, "backward", BACKWARD, 17, 'font-weight="bold"')]
    parts += [text(36, BOTTOM + 6, "dx", INK, 19), text(966, BOTTOM + 6, "dy", INK, 19)]
    edges = [52, *(edge for name, x in LAYERS.items() for edge in (x - HALF, x + HALF)), 952]
    for end, start in zip(edges[::2], edges[1::2], strict=True):
        parts.append(arrow(f"M{start} {BOTTOM} H{end + 3}", BACKWARD))
    for name, start in AFTER.items():
        end = BEFORE[name]
        parts.append(arrow(f"M{start} {BOTTOM} V{BOTTOM + 42} H{end} V{BOTTOM + 16}", BACKWARD))
        parts.append(text((start + end) / 2, BOTTOM + 60, "past it, unchanged", BACKWARD, 13))
        parts.append(plus(end, BOTTOM, BACKWARD))
    return [*parts, *(box(x, BOTTOM, HALF, name, BACKWARD) for name, x in LAYERS.items())]


def tape() -> list[str]:
    parts = [f'<rect x="24" y="{MIDDLE - 28}" width="{WIDTH - 48}" height="56" rx="8" fill="#efece4"/>']
    parts.append(text(72, MIDDLE + 5, "the tape", TAPE, 16, 'font-weight="bold"'))
    for name, x in LAYERS.items():
        parts.append(arrow(f"M{x} {TOP + 20} V{MIDDLE - 23}", TAPE, 'stroke-dasharray="4 4"'))
        parts.append(arrow(f"M{x} {MIDDLE + 20} V{BOTTOM - 23}", TAPE, 'stroke-dasharray="4 4"'))
        parts.append(box(x, MIDDLE, HALF - 7, KEPT[name], TAPE))
    return parts


def main() -> None:
    heads = "".join(
        f'<marker id="{color[1:]}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="6" markerHeight="6" '
        f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{color}"/></marker>'
        for color in (FORWARD, BACKWARD, TAPE)
    )
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#fdfcf9"/>'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" role="img">\n'
        "<title>Forward, backward and the tape of an encoder layer</title>\n"
        f"<defs>{heads}</defs>\n" + "\n".join([paper, *tape(), *forward(), *backward()]) + "\n</svg>\n"
    )
    Path(__file__).with_suffix(".svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
