"""The grammar of small edits, as far as it can be written down: what may stand in the place of what.

A line of REWRITES is a kind and, for it, patterns with all that may stand instead. a to e are any expressions, f is any
function; ± is + in both places or − in both.
"""

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from npbert.gradcheck.explain.code import filled, parsed
from npbert.gradcheck.explain.places import same

_COMPARED = [("<", "<=", ">", ">="), ("==", "!="), ("is", "is not")]
REWRITES = {
    "extra factor": "a * b → a, b; a / b → a; a // b → a; a @ b → a, b",
    "extra step": "a ** b → a",
    "extra term": "a + b → a, b; a - b → a, -b",
    "other share": "a / b → a / (1 - b); a * b → a * (1 - b), (1 - a) * b; 1 - a → a",
    "sign": "a + b → a - b, b - a; a - b → a + b, b - a; -a → a; a ** b → a ** -b; -a / b → a / b; -a * b → a * b",
    "operator": "a * b → a / b, b / a, a @ b, a + b; a / b → a * b; a // b → a / b; a @ b → a * b; a ± b → a * b",
    "order": "a @ b → b @ a, b @ a.T, b.T @ a; a / b → b / a; (a, b) → (b, a);"
    "(a, b, c) → (b, a, c), (a, c, b), (c, b, a)",
    "transpose": "a.T → a; a.T @ b → b.T @ a; a @ b.T → b @ a.T; a @ b → b.T @ a.T",
    "function": "a @ b → np.outer(a, b); a ** 2 → np.sqrt(a); a.real → a.imag; a.imag → a.real",
    "argument": "f(a, b) → f(b, a); f(a, b, c) → f(b, a, c), f(a, c, b), f(c, b, a)",
    "reshape": "a.reshape(b, c) → a.reshape(c, b).T, a.T.reshape(b, c);"
    "a.reshape(b, c, d) → a.reshape(c, b, d).swapaxes(0, 1), a.swapaxes(0, 1).reshape(b, c, d);"
    "a.reshape(b, c, d, e) → a.reshape(b, d, c, e).swapaxes(1, 2), a.swapaxes(1, 2).reshape(b, c, d, e)",
    "brackets": "a * (b ± c) → a * b ± c, b ± a * c; (b ± c) * a → a * b ± c, b ± a * c;"
    "(b ± c) / a → b ± c / a, b / a ± c;"
    "a * b ± c → a * (b ± c), b * (a ± c); a ± b * c → (a ± b) * c, b * (a ± c); a ± b / c → (a ± b) / c;"
    "a ± b * c / d → (a ± b * c) / d, (a ± b) * c / d; a / b ± c → (a ± c) / b, a / (b ± c); a / b * c → a / (b * c);"
    "a / f(b) * c → a / f(b * c); a / b ± c ± d → (a ± c ± d) / b; a * b ± c ± d → a * (b ± c ± d), b * (a ± c ± d);"
    "a / (b * c) → a / b * c; a / (b + c) → a / b + c; (a + b) ** c → a + b ** c; (a * b) ** c → a * b ** c;"
    "a + b ** c → (a + b) ** c; a * b ** c → (a * b) ** c; -a ** b → (-a) ** b; f(a) ± b → f(a ± b);"
    "f(a ± b) → f(a) ± b; f(a * b) → f(a) * b, a * f(b); f(a / b) → f(a) / b; f(a) * b → f(a * b); f(a) / b → f(a / b)",
    "comparison": "; ".join(f"a {op} b → a {o} b" for ops in _COMPARED for op, o in itertools.permutations(ops, 2))
    + "; a & b → a | b, a, b; a | b → a & b, a, b; a and b → a or b, a, b; a or b → a and b, a, b; ~a → a; not a → a;"
    "a if b else c → c if b else a, a, c;"
    "np.where(a, b, c) → np.where(a, c, b)",
    "index": "a[b] → a; a[b, c] → a[c, b], a[b], a[c]; a[b, :] → a[:, b]; a[b + c] → a[b - c], a[b];"
    "a[b - c] → a[b + c], a[b]; a[:, b] → a[b, :], a[b], a[np.arange(len(a)), b]; a[b:] → a; a[:b] → a, a[b:]",
}
"""By kind, "pattern → replacement, …; pattern → …"."""

WRAPS = (
    "np.sqrt(e); e ** 2; np.exp(e); 1 - e; 1 / e; 1 - e ** 2; e * (1 - e); np.tanh(e); np.log(e); np.abs(e);"
    "np.sign(e); np.maximum(e, 0); e > 0; e ** -1.5; e ** -2; e.ravel(); e.sum(axis=0); e.sum(axis=-1, keepdims=True);"
    "e.mean(axis=-1, keepdims=True); e - e.mean(axis=-1, keepdims=True)"
)
"""Steps that may have been left out."""

STATEMENTS = {
    "= or +=": "a += b → a = b; a = b → a += b",
    "in place": "a += b → a = a + b; a -= b → a = a - b; a *= b → a = a * b; a /= b → a = a / b",
    "sign": "a += b → a -= b; a -= b → a += b",
    "operator": "a *= b → a /= b; a /= b → a *= b",
    "new array": "a = a + b → a += b; a = a - b → a -= b; a = a * b → a *= b; a = a / b → a /= b; a = b → a[...] = b",
    "copy": "a = b → a = b.copy()",
    "repeated index": "a[b] += c → np.add.at(a, b, c); a[b] = c → np.add.at(a, b, c);"
    "a[b] -= c → np.subtract.at(a, b, c)",
    "order": "a, b = c → b, a = c; a, b, c = d → b, a, c = d; a, b, c = d → a, c, b = d;a, b, c = d → c, b, a = d",
    "index": "a[b, c] = d → a[c, b] = d; a[b, c] += d → a[c, b] += d; a[:, b] = c → a[np.arange(len(b)), b] = c;"
    "a[:, b] += c → a[np.arange(len(b)), b] += c; a[:, b] -= c → a[np.arange(len(b)), b] -= c;"
    "a[b] = c → a[b, np.arange(len(b))] = c; a[b] += c → a[b, np.arange(len(b))] += c;"
    "a[b] = c → a[np.arange(len(b)), b] = c; a[b] += c → a[np.arange(len(b)), b] += c",
}
"""The same for statements, one replacement to a pattern."""

REDUCTIONS = {"sum", "mean", "max", "min", "prod", "std", "var", "argmax", "argmin", "any", "all", "norm", "cumsum"}
_PAIRS = {
    "sum or mean": "sum mean",
    "function": "max sum; max mean; max min; prod sum; std var; argmax argmin; cumsum sum; maximum minimum;"
    "zeros_like ones_like; zeros ones; empty_like zeros_like; empty zeros; repeat tile; sin cos; exp log; sqrt square;"
    "dot outer; triu tril; floor ceil; real imag; tanh cosh; add subtract",
}
"""Functions that people mix up, by the kind of mistake."""
MIXED_UP: dict[str, list[tuple[str, str]]] = {}
for _kind, _text in _PAIRS.items():
    for _a, _b in map(str.split, _text.split(";")):
        MIXED_UP.setdefault(_a, []).append((_kind, _b))
        MIXED_UP.setdefault(_b, []).append((_kind, _a))


def rewritten(node: ast.expr | ast.stmt) -> Iterator[tuple[str, Any]]:
    """(kind, what may stand in the place of the node) by all the lines of the grammar that fit."""
    for kind, pattern, new in _RULES.get(_head(node), ()):
        found: dict[str, ast.AST] = {}
        if _fits(pattern, node, found):
            made = filled(new, **found)
            is_added = kind == "repeated index" and isinstance(found["c"], ast.Constant)  # a constant repeats no number
            if not is_added and not (kind == "extra term" and isinstance(made, ast.Constant)):  # 1 - p is no sum
                yield kind, made


def _fits(pattern: Any, node: Any, found: dict[str, ast.AST]) -> bool:
    """True if the node is of that form; `found` is given what stands for each letter."""
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1:
        is_value = isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred)
        return is_value and same(found.setdefault(pattern.id, node), node)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(_fits(p, n, found) for p, n in zip(pattern, node, strict=True))
    if not isinstance(pattern, ast.AST) or isinstance(pattern, ast.expr_context):
        return isinstance(pattern, ast.expr_context) or bool(pattern == node)
    fields = ((getattr(pattern, name, None), getattr(node, name, None)) for name in pattern._fields)
    return type(pattern) is type(node) and all(_fits(p, n, found) for p, n in fields)


def _head(node: ast.AST) -> str:
    return type(node).__name__ + type(getattr(node, "op", None)).__name__


def _rules() -> dict[str, list[tuple[str, ast.AST, str]]]:
    """By the head of the pattern: kind, pattern, replacement."""
    rules: dict[str, list[tuple[str, ast.AST, str]]] = {}
    for kind, text in [*REWRITES.items(), *STATEMENTS.items()]:
        for rule in text.split(";"):
            for sign in "+-" if "±" in rule else "+":
                before, after = rule.replace("±", sign).split(" → ")
                pattern = parsed(before)
                news = parsed(f"[{after}]").elts if isinstance(pattern, ast.expr) else [parsed(after)]
                rules.setdefault(_head(pattern), []).extend((kind, pattern, ast.unparse(new)) for new in news)
    return rules


_RULES = _rules()
