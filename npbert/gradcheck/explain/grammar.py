"""The grammar of small edits, as data. One visitor (`edits.py`) applies it.

A line of RULES is a kind of edit, and its patterns with their replacements. In a pattern a to e are any expressions, f
is any function or method, and ± is + in both places or − in both. A pattern of one letter tests the kind of the
expression (`CodePlace.sorts`). A capital letter on the right is drawn from the existing names (`vocabulary.py`).

To add an edit, put it in the line of its kind. A new kind needs a line in KINDS: its cost, and what is true of it.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from npbert.gradcheck.explain.code import text_of

_KINDS = """
extra factor | 1.0 | One factor or division too many.
extra term | 1.0 | One term too many.
sign | 1.05 | A sign is wrong.
sign of the whole | 1.35 | The sign of this is wrong.
axis | 1.02 | The axis is wrong, or missing.
range | 1.0 | The range is wrong.
keepdims | 1.0 | keepdims is wrong: the summed axis should stay with size 1, or disappear.
sum or mean | 1.1 | Sum and mean are exchanged.
transpose | 1.2 | The axes are in the wrong order.
function | 1.2 | The function is wrong.
copy | 1.32 | A copy is needed.
= or += | 1.41 | `=` and `+=` are exchanged.
in place | 1.3 | This changes an array in place, but a new array is needed.
repeated index | 1.41 | `a[i] = b` and `a[i] += b` keep only one b if a number in i repeats; np.add.at adds all.
order | 1.4 | The order is wrong.
index | 1.4 | The index or slice is wrong, missing, or not needed.
extra step | 1.4 | One step too many.
extra line | 1.4 | This line should not be here.
comparison | 1.42 | The condition is wrong, or not needed.
wrong name | 1.5 | The variable is wrong.
size | 1.5 | The size is wrong.
operator | 1.5 | The operator is wrong.
new array | 1.5 | `=` binds a new array, but the old one should be changed in place.
brackets | 1.6 | The brackets are in the wrong place.
other share | 1.6 | A share and the rest, as p and 1 − p, are exchanged.
constant | 1.6 | The constant is wrong.
argument | 1.6 | The arguments are wrong, or in the wrong order.
shape | 1.6 | The shape is wrong.
reshape | 1.6 | reshape keeps the order in memory, but the axes must also be swapped.
misplaced factor | 1.7 | A factor belongs in another place, such as inside or outside of a sum.
temporary | 1.4 | This writes into a copy, which is lost: a[i] with an array i is a copy.
needless copy | 1.4 | What is written into this copy is lost.
real array | 1.5 | The array is real, so what is written into it loses its imaginary part.
overwritten | 1.65 | A value that is needed later is overwritten.
unused result | 1.65 | What this call returns is not used.
line order | 1.45 | This line is in the wrong place.
lengths | 1.9 | Lengths do not add up, but their squares do.
two uses | 1.9 | What is used twice has a gradient from each use.
too much | 1.95 | Only a part of this is needed.
missing root | 2.15 | A square root is missing.
missing factor | 2.2 | A factor or a division is missing.
missing term | 2.5 | A term is missing.
missing step | 2.6 | A step is missing.
expression | 2.8 | The value of this expression is wrong.
result | 2.8 | This result is wrong, and perhaps what it is computed from, or what uses it.
"""
"""kind | cost | what is true"""

CHEAP = 2.0
"""Edits of a lower cost change existing code; edits of a higher cost add code."""


class Kind(NamedTuple):
    """cost: edits of a lower cost are tried before others.   cause: what is true of every edit of this kind, in a
    sentence that does not give it away."""

    cost: float
    cause: str


_ROWS = (line.split(" | ") for line in _KINDS.strip().splitlines())
KINDS = {name: Kind(float(cost), cause) for name, cost, cause in _ROWS}

RULES = """
extra factor: a * b → a, b; a / b → a; a // b → a; a @ b → a, b
extra step: a ** b → a; f(a) → a; f(a, b) → a, b; f(a, axis=b) → a; f(a, axis=b, keepdims=c) → a
extra step: a.f() → a; a.f(b) → a; a.f(b, c) → a; a.f(axis=b) → a; a.f(axis=b, keepdims=c) → a
extra term: a + b → a, b; a - b → a, -b; a.copy() → np.zeros_like(a); np.copy(a) → np.zeros_like(a)
other share: a / b → a / (1 - b); a * b → a * (1 - b), (1 - a) * b; 1 - a → a
sign: a + b → a - b, b - a; a - b → a + b, b - a; -a → a; a ** b → a ** -b; -a / b → a / b; -a * b → a * b; c → -c
sign of the whole: s → -s
axis: j → A; f(axis=b) → f(); f(a, axis=b) → f(a); f(axis=b, keepdims=c) → f(); f(a, axis=b, keepdims=c) → f(a)
axis: a.sum() → a.sum(axis=A); a.mean() → a.mean(axis=A); np.sum(a) → np.sum(a, axis=A); np.mean(a) → np.mean(a, axis=A)
axis: a.sum() → a.sum(axis=A, keepdims=True); a.mean() → a.mean(axis=A, keepdims=True)
axis: np.sum(a) → np.sum(a, axis=A, keepdims=True); np.mean(a) → np.mean(a, axis=A, keepdims=True)
axis: f(axis=b) → f(axis=A, keepdims=True); f(a, axis=b) → f(a, axis=A, keepdims=True)
keepdims: f(axis=b) → f(axis=b, keepdims=True); f(a, axis=b) → f(a, axis=b, keepdims=True)
keepdims: f(axis=b, keepdims=c) → f(axis=b); f(a, axis=b, keepdims=c) → f(a, axis=b)
keepdims: a.sum(b) → a.sum(b, keepdims=True); a.mean(b) → a.mean(b, keepdims=True); a.sum(b, keepdims=c) → a.sum(b)
operator: a @ b.T → a * b; a.T @ b → a * b
operator: a * b → a / b, b / a, a @ b, a + b; a / b → a * b; a // b → a / b; a @ b → a * b; a ± b → a * b
order: a @ b → b @ a, b @ a.T, b.T @ a; a / b → b / a; (a, b) → (b, a); (a, b, c) → (b, a, c), (a, c, b), (c, b, a)
transpose: a.swapaxes(b, c) → a
transpose: a.T → a; a.T @ b → b.T @ a; a @ b.T → b @ a.T; a @ b → b.T @ a.T; m → m.T; t → t.swapaxes(-1, -2)
two uses: (2 * a) @ b → a @ b + a.T @ b, a @ b + a @ b.T; 2 * (a @ b) → a @ b + a.T @ b, a @ b + a @ b.T
two uses: a @ b → a @ b + a.T @ b, a @ b + a @ b.T
lengths: sum(a) → math.hypot(*a); np.sum(a) → np.linalg.norm(a); a.sum() → np.linalg.norm(a); a + b → np.hypot(a, b)
function: a @ b → np.outer(a, b); a ** 2 → np.sqrt(a); a.real → a.imag; a.imag → a.real
argument: f(a, b) → f(b, a); f(a, b, c) → f(b, a, c), f(a, c, b), f(c, b, a)
shape: x → x.reshape(Z)
reshape: a.reshape(b) → a.swapaxes(1, 2).reshape(b), a.swapaxes(0, 1).reshape(b)
reshape: a.reshape(b) → a.reshape(b[0], b[2], b[1], *b[3:]).swapaxes(1, 2)
reshape: a.reshape(b, c) → a.reshape(c, b).T, a.T.reshape(b, c)
reshape: a.reshape(b, c, d) → a.reshape(c, b, d).swapaxes(0, 1), a.swapaxes(0, 1).reshape(b, c, d)
reshape: a.reshape(b, c, d, e) → a.reshape(b, d, c, e).swapaxes(1, 2), a.swapaxes(1, 2).reshape(b, c, d, e)
brackets: a * (b ± c) → a * b ± c; (b ± c) * a → b ± a * c; (b ± c) / a → b ± c / a
brackets: a * b ± c → a * (b ± c); a ± b * c → (a ± b) * c; a ± b / c → (a ± b) / c
misplaced factor: a * (b ± c) → b ± a * c; (b ± c) * a → a * b ± c; (b ± c) / a → b / a ± c
misplaced factor: a * b ± c → b * (a ± c); a ± b * c → b * (a ± c); a / b ± c → (a ± c) / b
misplaced factor: a / b ± c ± d → (a ± c ± d) / b; a * b ± c ± d → b * (a ± c ± d)
brackets: a ± b * c / d → (a ± b * c) / d, (a ± b) * c / d; a / b ± c → a / (b ± c)
brackets: a / f(b) * c → a / f(b * c); a * b ± c ± d → a * (b ± c ± d)
brackets: a / (b * c) → a / b * c; a / (b + c) → a / b + c; (a + b) ** c → a + b ** c; (a * b) ** c → a * b ** c
brackets: a + b ** c → (a + b) ** c; a * b ** c → (a * b) ** c; -a ** b → (-a) ** b; f(a) ± b → f(a ± b)
brackets: f(a ± b) → f(a) ± b; f(a * b) → f(a) * b, a * f(b); f(a / b) → f(a) / b; f(a) * b → f(a * b)
brackets: f(a) / b → f(a / b); a / b * c → a / (b * c)
brackets: a < b + c → (a < b) + c; a > b + c → (a > b) + c; a <= b + c → (a <= b) + c; a >= b + c → (a >= b) + c
brackets: a < b * c → (a < b) * c; a > b * c → (a > b) * c; a <= b * c → (a <= b) * c; a >= b * c → (a >= b) * c
comparison: a & b → a | b, a, b; a | b → a & b, a, b; a and b → a or b, a, b; a or b → a and b, a, b
comparison: ~a → a; not a → a; a if b else c → c if b else a, a, c; np.where(a, b, c) → np.where(a, c, b)
index: a[b] → a, a.sum(axis=0); a[b, c] → a[c, b], a[b], a[c]; a[b, :] → a[:, b]
index: a[b + c] → a[b - c], a[b]; a[b - c] → a[b + c], a[b]
index: a[:, b] → a[b, :], a[b], a[np.arange(len(a)), b]; a[b:] → a; a[:b] → a, a[b:]; i → i - 1, i + 1, I[i]; x → x[I]
constant: c → C; a ** b → a ** (b - 1), a ** (b + 1)
too much: p → P
size: n → N
wrong name: v → V
missing factor: x → x ** 2, x / 2, x * 2, x / 3, x * 3, x / math.pi, x * math.pi
missing factor: x → x / N, x * N, x / N ** 0.5, x * N ** 0.5, 2 * x / N
missing factor: x → x / math.sqrt(2), x * math.sqrt(2), x / math.sqrt(math.pi), x * math.sqrt(math.pi)
missing factor: x → x / math.sqrt(2 * math.pi), x * math.sqrt(2 * math.pi)
missing factor: x → x / W, x * W, x * (1 - W), x * (1 - W ** 2)
missing term: x → x + 0.5, x - 0.5, x + 1, x - 1, x + W, x - W; r → r + G, r - G
missing term: a * b * (1 - b) → b * (a - (a * b).sum(axis=A, keepdims=True))
missing term: a * (b * (1 - b)) → b * (a - (a * b).sum(axis=A, keepdims=True))
missing root: k → np.sqrt(k)
missing step: x → np.sqrt(x), x ** 2, np.exp(x), 1 - x, 1 / x, 1 - x ** 2, x * (1 - x), np.tanh(x), np.log(x), np.abs(x)
missing step: x → np.sign(x), np.maximum(x, 0), x > 0, x ** -1.5, x ** -2, x.ravel(), x.sum(axis=0), S
missing step: x → x.sum(axis=-1, keepdims=True), x.mean(axis=-1, keepdims=True), x - x.mean(axis=-1, keepdims=True)
missing step: x → x * W * (1 - W), x * (W > 0); r → W * (r - (r * W).sum(axis=-1, keepdims=True))
expression: x → W; a - b → -b / a
comparison: a < b → a <= b, a > b, a >= b; a <= b → a < b, a > b, a >= b; a > b → a < b, a <= b, a >= b
comparison: a >= b → a < b, a <= b, a > b; a == b → a != b; a != b → a == b; a is b → a is not b; a is not b → a is b
sum or mean: a.sum → a.mean; a.mean → a.sum
function: a.max → a.sum, a.mean, a.min; a.sum → a.max, a.prod, a.cumsum; a.mean → a.max; a.min → a.max; a.prod → a.sum
function: a.std → a.var; a.var → a.std; a.argmax → a.argmin; a.argmin → a.argmax; a.cumsum → a.sum
function: a.maximum → a.minimum; a.minimum → a.maximum
function: a.zeros_like → a.ones_like, a.empty_like; a.ones_like → a.zeros_like; a.zeros → a.ones, a.empty
function: a.ones → a.zeros; a.empty_like → a.zeros_like; a.empty → a.zeros; a.repeat → a.tile; a.tile → a.repeat
function: a.sin → a.cos; a.cos → a.sin; a.add → a.subtract; a.subtract → a.add
function: a.exp → a.log; a.log → a.exp; a.sqrt → a.square; a.square → a.sqrt; a.dot → a.outer; a.outer → a.dot
function: a.triu → a.tril; a.tril → a.triu; a.floor → a.ceil; a.ceil → a.floor; a.tanh → a.cosh; a.cosh → a.tanh
= or +=: a += b → a = b; a = b → a += b
in place: a += b → a = a + b; a -= b → a = a - b; a *= b → a = a * b; a /= b → a = a / b
sign: a += b → a -= b; a -= b → a += b
operator: a *= b → a /= b; a /= b → a *= b
lengths: a += b → a = np.hypot(a, b)
new array: a = a + b → a += b; a = a - b → a -= b; a = a * b → a *= b; a = a / b → a /= b; a = b → a[...] = b
new array: a = b * c[d] + e → a = c[d] = b * c[d] + e; a = c[d] * b + e → a = c[d] = c[d] * b + e
copy: o → o.copy(); a = b = c → a, b = (c), (c).copy()
temporary: a[b][c, d] -= e → a[np.flatnonzero(b)[c], d] -= e; a[b][c, d] += e → a[np.flatnonzero(b)[c], d] += e
temporary: a[b][c] -= d → a[np.flatnonzero(b)[c]] -= d; a[b][c] += d → a[np.flatnonzero(b)[c]] += d
temporary: np.add.at(a[b], c, d) → np.add.at(a, b, d), np.add.at(a, c, d)
needless copy: a = np.array(b) → a = b; a = np.copy(b) → a = b; a = b.copy() → a = b
real array: a.copy() → a.astype(complex); a.astype(b) → a.astype(complex); np.array(a) → np.array(a, complex)
real array: np.zeros(a) → np.zeros(a, complex); np.zeros_like(a) → np.zeros_like(a, complex)
repeated index: a[b] += c → np.add.at(a, b, c); a[b] = c → np.add.at(a, b, c); a[b] -= c → np.subtract.at(a, b, c)
order: a, b = c → b, a = c; a, b, c = d → b, a, c = d; a, b, c = d → a, c, b = d; a, b, c = d → c, b, a = d
index: a[b, c] = d → a[c, b] = d; a[b, c] += d → a[c, b] += d; a[:, b] = c → a[np.arange(len(b)), b] = c
comparison: a[b] = c → a[~b] = c; a[b] *= c → a[~b] *= c; a[b] /= c → a[~b] /= c
index: a[:, b] += c → a[np.arange(len(b)), b] += c; a[:, b] -= c → a[np.arange(len(b)), b] -= c
index: a[b] = c → a[b, np.arange(len(b))] = c; a[b] += c → a[b, np.arange(len(b))] += c
index: a[:b] = c → a[I] = c; a[b] = c → a[np.arange(len(b)), b] = c; a[b] += c → a[np.arange(len(b)), b] += c
"""
"""kind: pattern → replacement, …; pattern → … A pattern that is a statement has one replacement."""


class Rule(NamedTuple):
    """A replacement of a pattern. drawn: the capital letter in `new`, or "" """

    kind: str
    pattern: Any
    new: str
    drawn: str

    def made(self, parts: Mapping[str, str], drawn: str = "") -> str:
        """Return the replacement. parts: by letter. drawn: the expression for the capital letter."""
        words = {**parts, self.drawn: f"({drawn})"}
        return re.sub(r"\b[A-Za-z]\b", lambda letter: words.get(letter[0], letter[0]), self.new)


def rules_for(node: ast.AST, sorts: Collection[str] = ()) -> Iterator[tuple[Rule, dict[str, str]]]:
    """Return the matching rules, with the parts for their letters. sorts: the letters of the node's kind"""
    for head in (_head(node), *sorts):
        for rule in _RULES.get(head, ()):
            found: dict[str, ast.AST] = {}
            if _fits(rule.pattern, node, found):
                yield rule, {letter: f"({text_of(part)})" for letter, part in found.items()}


def _fits(pattern: Any, node: Any, found: dict[str, ast.AST]) -> bool:
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1:
        is_value = isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred)
        earlier = found.setdefault(pattern.id, node)
        return is_value and (earlier is node or text_of(earlier) == text_of(node))
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(_fits(p, n, found) for p, n in zip(pattern, node, strict=True))
    if not isinstance(pattern, ast.AST):
        return bool(pattern == node) or (pattern == "f" and isinstance(node, str))
    if isinstance(pattern, ast.expr_context):
        return True
    fields = ((getattr(pattern, name, None), getattr(node, name, None)) for name in pattern._fields)
    return type(pattern) is type(node) and all(_fits(p, n, found) for p, n in fields)


def _head(node: ast.AST) -> str:
    return type(node).__name__ + type(getattr(node, "op", None)).__name__


def _parsed(text: str) -> Any:
    """Return the expression or statement of a text."""
    statement = ast.parse(text.strip()).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement


def _rules() -> dict[str, list[Rule]]:
    """Return the rules by the letter of a one-letter pattern, or by the head of the pattern."""
    rules: dict[str, list[Rule]] = {}
    for line in RULES.strip().splitlines():
        kind, _, text = line.partition(": ")
        for rule in text.split(";"):
            for sign in "+-" if "±" in rule else "+":
                before, after = rule.replace("±", sign).split(" → ")
                pattern = _parsed(before)
                head = pattern.id if isinstance(pattern, ast.Name) else _head(pattern)
                news = map(text_of, _parsed(f"[{after}]").elts) if isinstance(pattern, ast.expr) else [after]
                for new in news:
                    drawn = re.search(r"\b[A-SU-Z]\b", new)
                    rules.setdefault(head, []).append(Rule(kind, pattern, new, drawn[0] if drawn else ""))
    return rules


_RULES = _rules()
