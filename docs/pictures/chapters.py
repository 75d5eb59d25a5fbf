"""Draws the pictures of the chapters, each with the numbers of its chapter: `python docs/pictures/chapters.py`"""

import math
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

BLUE, ORANGE, GREEN = "#0072b2", "#c04a00", "#00785a"  # told apart by the color-blind, too
INK, GRAY, PALE, PAPER = "#1a1a1a", "#666666", "#d8d3c6", "#fdfcf9"
HERE = Path(__file__).parent


class Picture:
    """An SVG of so many pixels, drawn part by part."""

    def __init__(self, title, width, height):
        self.title, self.width, self.height = title, width, height
        self.parts = []

    def text(self, x, y, words, color=INK, size=15, at="middle", weight="normal"):
        style = f'fill="{color}" font-size="{size}" text-anchor="{at}" font-weight="{weight}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(str(words))}</text>')

    def box(self, x, y, width, height, words="", color=INK, fill="#fff", size=15):
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect {place} rx="5" fill="{fill}" stroke="{color}" stroke-width="1.5"/>')
        self.text(x + width / 2, y + height / 2 + size / 3, words, INK, size)

    def line(self, points, color=INK, width=2.0, dashes="none", arrow=False):
        path = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        head = f'marker-end="url(#{color[1:]})"' if arrow else ""
        style = f'fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dashes}"'
        self.parts.append(f'<path d="M{path}" {style} {head}/>')

    def dot(self, x, y, color, radius=4.0):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def grid(self, x, y, values, size=(74, 34), shown="{:.2f}"):
        """A matrix as heat map: blue above 0, orange below."""
        largest = np.abs(values).max()
        for (row, column), value in np.ndenumerate(values):
            fill = shade(BLUE if value > 0 else ORANGE, abs(value) / largest)
            self.box(x + column * size[0], y + row * size[1], *size, shown.format(value), PALE, fill, 13)

    def save(self, name):
        heads = "".join(
            f'<marker id="{color[1:]}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="6" markerHeight="6" '
            f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{color}"/></marker>'
            for color in (BLUE, ORANGE, GREEN, INK, GRAY)
        )
        size = f'viewBox="0 0 {self.width} {self.height}"'
        paper = f'<rect width="{self.width}" height="{self.height}" rx="12" fill="{PAPER}"/>'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" role="img">',
            f"<title>{escape(self.title)}</title>",
            f"<defs>{heads}</defs>",
            paper,
            *self.parts,
            "</svg>\n",
        ]
        (HERE / f"{name}.svg").write_text("\n".join(lines), encoding="utf-8")


def shade(color, share):
    """A color mixed with white; share 0 is white. Text on it stays readable."""
    parts = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - 0.55 * share * (255 - part)):02x}" for part in parts)


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def bert():
    """Chapter 0: from tokens to the two predictions."""
    picture = Picture("BERT: tokens, embeddings, encoder layers, two heads", 1000, 520)
    tokens = ["[CLS]", "where", "are", "[MASK]", "going", "[SEP]", "i", "am", "shopping", "[SEP]"]
    left, step = 70, 90
    for column, token in enumerate(tokens):
        x = left + column * step
        special = GREEN if token == "[CLS]" else ORANGE if token == "[MASK]" else INK
        picture.box(x, 460, 80, 34, token, special)
        picture.line([(x + 40, 460), (x + 40, 428)], GRAY, 1.5, arrow=True)
        picture.line([(x + 40, 336), (x + 40, 312)], GRAY, 1.5, arrow=True)
        word = f"word {token}" if len(token) < 8 else token
        for row, label in enumerate([word, f"position {column}", f"sentence {1 + (column > 5)}"]):
            picture.box(x, 396 - row * 30, 80, 26, label, PALE, "#fff", 11)
        picture.line([(x + 40, 174), (x + 40, 152)], GRAY, 1.5, arrow=True)
        picture.box(x, 118, 80, 30, "a row of D", special, "#fff", 12)
    for y in (387, 357):
        picture.text(44, y, "+", INK, 22)
    for number, y in enumerate((270, 214)):
        picture.box(left, y, 9 * step + 80, 38, "", BLUE)
        words = "attention: each token reads from all      →      feed-forward: each token by itself"
        picture.text(left + (9 * step + 80) / 2, y + 24, f"encoder layer {number + 1}:   {words}", BLUE, 15)
    picture.line([(500, 270), (500, 255)], GRAY, 1.5, arrow=True)
    picture.text(500, 204, "…  and more layers  …", GRAY, 14)
    picture.line([(500, 214), (500, 180)], PALE, 1.0)
    picture.line([(left + 40, 118), (left + 40, 76)], GREEN, 2, arrow=True)
    picture.line([(left + 3 * step + 40, 118), (left + 3 * step + 40, 76)], ORANGE, 2, arrow=True)
    picture.box(20, 34, 220, 38, "does the second follow? yes", GREEN)
    picture.box(280, 34, 240, 38, "the hidden word: you", ORANGE)
    picture.text(130, 22, "next-sentence head", GREEN, 13)
    picture.text(400, 22, "masked-word head", ORANGE, 13)
    picture.save("bert")


def tape():
    """Chapter 1: forward, the tape and backward."""
    picture = Picture("Forward leaves what backward needs on the tape", 1000, 300)
    names, kept = ["Linear", "GELU", "Linear", "loss"], ["x, W", "slope", "x, W", "p, label"]
    values = ["x", "y₁", "y₂", "y₃", "loss"]
    picture.text(20, 34, "forward", BLUE, 17, "start", "bold")
    picture.text(20, 284, "backward", ORANGE, 17, "start", "bold")
    picture.box(60, 126, 880, 46, "", "#efece4", "#efece4")
    picture.text(70, 154, "the tape", GRAY, 15, "start", "bold")
    for number, (name, what) in enumerate(zip(names, kept, strict=True)):
        x = 190 + number * 200
        picture.text(x - 72, 66, values[number], INK, 17)
        picture.line([(x - 58, 60), (x - 36, 60)], BLUE, arrow=True)
        picture.box(x - 32, 40, 100, 40, name, BLUE)
        picture.line([(x + 68, 60), (x + 92, 60)], BLUE, arrow=True)
        picture.line([(x + 18, 80), (x + 18, 128)], GRAY, 1.5, "4 4", arrow=True)
        picture.box(x - 32, 132, 100, 34, what, GRAY)
        picture.line([(x + 18, 166), (x + 18, 212)], GRAY, 1.5, "4 4", arrow=True)
        picture.box(x - 32, 216, 100, 40, name, ORANGE)
        picture.line([(x + 92, 236), (x + 72, 236)], ORANGE, arrow=True)
        picture.line([(x - 36, 236), (x - 52, 236)], ORANGE, arrow=True)
        picture.text(x - 76, 242, f"d{values[number]}", INK, 17)
    picture.text(912, 66, "loss", INK, 17)
    picture.text(912, 242, "1", INK, 17)
    picture.save("tape")


def rates():
    """Chapter 2: (θ − 1)², and six steps at three learning rates."""
    picture = Picture("A step too small, a good one, and one too large", 1000, 330)
    for number, (rate, words) in enumerate(((0.04, "too small"), (0.3, "good"), (1.05, "too large"))):
        left = 30 + number * 325
        w = [-0.6]
        for _ in range(6):
            w.append(w[-1] - rate * 2 * (w[-1] - 1))

        def place(w, left=left):
            return left + 150 + (w - 1) * 54, 262 - (w - 1) ** 2 * 24

        curve = [place(1 + 0.1 * tenth) for tenth in range(-27, 28)]
        picture.line(curve, GRAY, 1.5)
        picture.line([place(each) for each in w], ORANGE, 1.8, arrow=True)
        for each in w:
            picture.dot(*place(each), ORANGE)
        picture.text(left + 150, 30, f"lr = {rate}: {words}", INK, 17, weight="bold")
        start, end = (f"{(each - 1) ** 2:.2f}" for each in (w[0], w[-1]))
        picture.text(left + 150, 300, f"loss {start} → {end} after 6 steps", INK, 15)
    picture.save("rates")


def depth():
    """Chapter 3: the length of the gradient on its way back through 24 layers."""
    picture = Picture("A gradient through 24 layers, with and without residual connections", 1000, 330)
    rng = np.random.default_rng(0)
    weights = [0.1 * rng.standard_normal((16, 16)) for _ in range(24)]
    through = past = np.ones(16)
    lengths = [[4.0], [4.0]]
    for weight in weights:
        through, past = through @ weight.T, past + past @ weight.T
        lengths[0].append(math.sqrt((through * through).sum()))
        lengths[1].append(math.sqrt((past * past).sum()))

    def place(layer, length):
        return 110 + layer * 30, 60 - (math.log10(length) - 2) * 18.5

    for exponent in (0, -3, -6, -9):
        y = place(0, 10.0**exponent)[1]
        picture.line([(110, y), (830, y)], PALE, 1)
        picture.text(100, y + 5, f"1e{exponent}" if exponent else "1", GRAY, 14, "end")
    for found, color, words in zip(lengths, (ORANGE, BLUE), ("y = f(x)", "y = x + f(x)"), strict=True):
        points = [place(layer, length) for layer, length in enumerate(found)]
        picture.line(points, color, 2.4)
        picture.text(points[-1][0] + 14, points[-1][1] + 5, words, color, 17, "start")
    picture.text(470, 318, "layers, on the way back", GRAY, 15)
    picture.text(110, 28, "length of the gradient", GRAY, 15, "start")
    picture.save("depth")


def jacobian():
    """Chapter 4: how each p moves with each score."""
    picture = Picture("The Jacobian of softmax", 1000, 290)
    scores = np.array([1.0, 0.0, -1.0])
    p = softmax(scores)
    matrix = p[:, None] * (np.eye(3) - p[None, :])
    picture.text(160, 40, "scores s", INK, 17, weight="bold")
    picture.text(420, 40, "probabilities p", INK, 17, weight="bold")
    for row in range(3):
        y = 70 + row * 62
        picture.box(120, y, 80, 40, f"{scores[row]:.0f}", INK)
        picture.box(360, y, 120, 40, f"{p[row]:.4f}", INK, shade(BLUE, p[row]))
        picture.line([(200, 90), (356, y + 20)], BLUE if row == 0 else ORANGE, 2.6, arrow=True)
    picture.text(270, 270, "raise s₀: p₀ rises, the others fall", GRAY, 15)
    picture.text(765, 40, "∂pⱼ/∂sᵢ: row j, column i", INK, 17, weight="bold")
    picture.grid(590, 70, matrix, (116, 50), "{:.4f}")
    picture.line([(586, 66), (586, 224), (706, 224), (706, 66), (586, 66)], BLUE, 3)
    picture.text(646, 250, "raise s₀", BLUE, 15)
    picture.text(765, 275, "each column adds up to 0", GRAY, 15)
    picture.save("jacobian")


WORDS = ["the", "bank", "of", "the", "river"]
QUERY = np.array([[0, 0], [2, 2], [0, 0], [0, 0], [1, 0]], float)
KEY = np.array([[0, 0], [1, 1], [0, 0], [0, 0], [3, 0]], float)
VALUE = np.array([[0, 0], [1, 1], [0, 0], [0, 0], [2, 0]], float)


def attention():
    """Chapter 6: where each word looks, and one dP on its way to the queries and keys."""
    picture = Picture("Attention in “the bank of the river”", 1000, 330)
    p = softmax(QUERY @ KEY.T / math.sqrt(2))
    context = p @ VALUE
    for index, word in enumerate(WORDS):
        picture.text(150 + index * 74, 50, word, BLUE if word == "river" else INK, 15)
        picture.text(104, 84 + index * 40, word, ORANGE if word == "bank" else INK, 15, "end")
    picture.text(300, 24, "key: which word is looked at", GRAY, 14)
    picture.text(60, 50, "query", GRAY, 14)
    picture.grid(113, 60, p, (74, 40))
    picture.line([(113, 100), (483, 100), (483, 140), (113, 140), (113, 100)], ORANGE, 3)
    picture.text(300, 290, "P: each row adds up to 1", GRAY, 15)
    picture.text(610, 50, "V", INK, 15)
    picture.text(850, 50, "C = P V", INK, 15)
    for index, word in enumerate(WORDS):
        water, money = VALUE[index]
        picture.box(560, 60 + index * 40, 110, 40, f"{water:.0f}, {money:.0f}", PALE, shade(BLUE, p[1, index]), 14)
        picture.text(680, 85 + index * 40, word, GRAY, 13, "start")
        share = p[1, index]
        picture.line([(674 + 44, 80 + index * 40), (786, 120)], ORANGE, max(0.6, 7 * share), arrow=share > 0.5)
    picture.box(790, 100, 150, 40, f"{context[1, 0]:.2f}, {context[1, 1]:.2f}", ORANGE)
    picture.text(865, 166, "bank, in its context", ORANGE, 14)
    picture.text(615, 290, "each value: water, money", GRAY, 15)
    picture.text(865, 290, "nearly all water", GRAY, 15)
    picture.save("attention")


def heads():
    """Chapter 6: columns cut into heads, with swapaxes and with reshape alone."""
    picture = Picture("Cutting columns into heads", 1000, 300)
    q = np.arange(24).reshape(3, 8)
    colors = [shade(BLUE, 0.9), shade(ORANGE, 0.9)]

    def cells(left, top, values, words):
        picture.text(left + values.shape[1] * 17, top - 10, words, INK, 14)
        for (row, column), value in np.ndenumerate(values):
            fill = colors[value % 8 // 4]
            picture.box(left + column * 34, top + row * 30, 34, 30, value, INK, fill, 12)

    cells(30, 110, q, "Q (T, D): 3 tokens, two heads of 4 columns")
    right, wrong = q.reshape(3, 2, 4).swapaxes(0, 1), q.reshape(2, 3, 4)
    picture.line([(316, 150), (384, 80)], BLUE, arrow=True)
    picture.line([(316, 160), (384, 226)], ORANGE, arrow=True)
    for head in range(2):
        cells(400 + head * 180, 50, right[head], f"head {head}")
        cells(400 + head * 180, 190, wrong[head], f"head {head}")
    picture.text(770, 90, "reshape(T, H, dₖ).swapaxes(0, 1)", BLUE, 13, "start")
    picture.text(770, 112, "each head has its columns", GRAY, 13, "start")
    picture.text(770, 230, "reshape(H, T, dₖ)", ORANGE, 13, "start")
    picture.text(770, 252, "right shape, mixed columns", GRAY, 13, "start")
    picture.save("heads")


def rows():
    """Chapter 7: rows of a table that are read, and what each collects."""
    picture = Picture("An embedding: read rows forward, collect backward", 1000, 300)
    ids, words = [3, 1, 3], ["the", "bank", "the"]
    grads = ["(1, 2)", "(10, 20)", "(0.5, 0.5)"]
    sums = ["(0, 0)", "(10, 20)", "(0, 0)", "(1.5, 2.5)"]
    picture.text(200, 34, "forward: y[n] = W[ids[n]]", BLUE, 16, weight="bold")
    picture.text(740, 34, "backward: a row of dW collects", ORANGE, 16, weight="bold")
    for row in range(4):
        picture.box(60, 60 + row * 54, 130, 36, f"W[{row}]", INK)
        picture.box(790, 60 + row * 54, 150, 36, f"dW[{row}] = {sums[row]}", INK, "#fff", 13)
    for place, (row, word) in enumerate(zip(ids, words, strict=True)):
        y = 84 + place * 62
        picture.box(310, y, 130, 36, f"y[{place}]: {word}", INK)
        picture.line([(190, 78 + row * 54), (306, y + 18)], BLUE, 2, arrow=True)
        picture.box(550, y, 130, 36, f"dy[{place}] = {grads[place]}", INK, "#fff", 13)
        picture.line([(680, y + 18), (786, 78 + row * 54)], ORANGE, 2, arrow=True)
        picture.line([(440, y + 18), (546, y + 18)], PALE, 1.5, "4 4", arrow=False)
    picture.save("rows")


def adam():
    """Chapter 8: a long valley, by plain steps and by Adam."""
    picture = Picture("Plain gradient descent and Adam in a long valley", 1000, 330)

    curvature = np.array([0.005, 1.0])
    plain = [np.array([-8.0, 1.6])]
    for _ in range(40):
        plain.append(plain[-1] - 1.9 * curvature * plain[-1])
    theta, m, v = plain[0], np.zeros(2), np.zeros(2)
    by_adam = [theta]
    for t in range(1, 41):
        g = curvature * theta
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        theta = theta - 0.3 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        by_adam.append(theta)
    panels = (("plain steps, lr = 1.9", plain, ORANGE), ("Adam, lr = 0.3", by_adam, BLUE))
    for number, (words, path, color) in enumerate(panels):
        left = 30 + 490 * number

        def place(x, left=left):
            return left + 400 + x[0] * 46, 165 + x[1] * 62

        for level in (0.02, 0.07, 0.15):
            angles = [math.tau * part / 60 for part in range(61)]
            ring = [(math.cos(a) * math.sqrt(2 * level / 0.005), math.sin(a) * math.sqrt(2 * level)) for a in angles]
            picture.line([place(each) for each in ring if abs(each[0] + 3.8) < 5], PALE, 1.2)
        picture.line([place(each) for each in path], color, 1.6)
        for each in path:
            picture.dot(*place(each), color, 2.6)
        picture.text(left + 230, 26, words, INK, 17, weight="bold")
        loss = (curvature * path[-1] ** 2).sum() / 2
        picture.text(left + 230, 318, f"after 40 steps: loss {loss:.3f}", GRAY, 15)
    picture.save("adam")


def difference():
    """Chapter 9: the error of a difference of 1/x, by its step. (A division has the same digits on each processor.)"""
    picture = Picture("The error of a finite difference by its step", 1000, 320)
    x = np.linspace(0.5, 2.5, 1001)
    points = []
    for tenth in range(-110, -9, 5):
        step = 10.0 ** (tenth / 10)
        central = (1 / (x + step) - 1 / (x - step)) / (2 * step)
        error = math.log10(np.median(np.abs(central * x**2 + 1)))
        points.append((120 + (tenth + 110) * 7.4, 60 + (-1 - error) * 19))
    for exponent in range(-11, 0, 2):
        x0 = 120 + (exponent * 10 + 110) * 7.4
        picture.text(x0, 300, f"1e{exponent}", GRAY, 13)
        y0 = 60 + (-1 - exponent) * 19
        picture.line([(112, y0), (880, y0)], PALE, 1)
        picture.text(104, y0 + 5, f"1e{exponent}", GRAY, 13, "end")
    picture.line(points, BLUE, 2.4)
    picture.text(200, 112, "← too small: subtraction loses digits", ORANGE, 15, "start")
    picture.text(760, 112, "too large: the curve bends →", ORANGE, 15, "end")
    picture.text(120, 34, "relative error", GRAY, 15, "start")
    picture.text(890, 300, "step", GRAY, 15, "start")
    picture.save("difference")


if __name__ == "__main__":
    for draw in (bert, tape, rates, depth, jacobian, attention, heads, rows, adam, difference):
        draw()
