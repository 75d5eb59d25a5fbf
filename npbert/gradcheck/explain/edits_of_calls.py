"""The grammar of small edits, where a function is called: axes, arguments, sum for mean, letters of einsum."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from npbert.gradcheck.explain.code import filled
from npbert.gradcheck.explain.places import Place, same

REDUCTIONS = {"sum", "mean", "max", "min", "prod", "std", "var", "argmax", "argmin", "any", "all", "norm", "cumsum"}
_PAIRS = {
    "sum or mean": "sum mean; max sum; max mean; max min; prod sum; std var; argmax argmin; cumsum sum;"
    "maximum minimum; zeros_like ones_like; zeros ones; empty_like zeros_like; empty zeros; repeat tile",
    "function": "sin cos; exp log; sqrt square; dot outer; triu tril; floor ceil; real imag; tanh cosh",
}
"""Functions that people mix up."""
_NOT_A_STEP = {"add_grad", "len", "range", "enumerate", "zip", "zeros", "zeros_like", "take", "keep"}


def _mixed_up() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, text in _PAIRS.items():
        for a, b in map(str.split, text.split(";")):
            found.setdefault(a, []).append((kind, b))
            found.setdefault(b, []).append((kind, a))
    return found


_MIXED_UP = _mixed_up()


def edits_of_call(place: Place, code: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(kind, new expression)"""
    e = place.expr
    assert isinstance(e, ast.Call)
    attribute = e.func if isinstance(e.func, ast.Attribute) else None
    name = attribute.attr if attribute else getattr(e.func, "id", "")
    is_method = attribute is not None and not _is_module(attribute.value)
    args = [each for each in e.args if not isinstance(each, ast.Starred)]
    target = attribute.value if attribute is not None and is_method else args[0] if args else None
    transposes = "transpose" in name or name == "swapaxes"
    for each in [*([target] if is_method else []), *args]:
        if each is not None and not (is_method and transposes and each is not target) and name not in _NOT_A_STEP:
            yield "transpose" if transposes else "unwrap", each
    for kind, other in _MIXED_UP.get(name, ()):
        func = ast.Attribute(attribute.value, other, ast.Load()) if attribute else ast.Name(other, ast.Load())
        yield kind, ast.Call(func, e.args, e.keywords)
    if attribute and name == "at" and isinstance(attribute.value, ast.Attribute):
        for ufunc in {"add", "subtract"} - {attribute.value.attr}:
            func = ast.Attribute(ast.Attribute(attribute.value.value, ufunc, ast.Load()), "at", ast.Load())
            yield "sign", ast.Call(func, e.args, e.keywords)
    for i, j in itertools.combinations(range(len(args)), 2):
        if len(args) == len(e.args):
            swapped = list(args)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield "argument", ast.Call(e.func, swapped, e.keywords)
    for keyword in e.keywords:
        if keyword.arg not in ("axis", "keepdims"):
            yield "argument", ast.Call(e.func, e.args, [k for k in e.keywords if k is not keyword])
    if target is not None and (name in REDUCTIONS or any(k.arg == "axis" for k in e.keywords)):
        yield from _of_axes(e, is_method=is_method)
    if name == "einsum" and args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
        for letters in einsums(args[0].value):
            yield "einsum", ast.Call(e.func, [ast.Constant(letters), *args[1:]], e.keywords)
    if name == "reshape" and is_method and len(args) == 2:
        parts = {"e": attribute.value if attribute else e, "a": args[0], "b": args[1]}
        yield "reshape", filled("e.reshape(b, a).T", **parts)
        yield "reshape", filled("e.T.reshape(a, b)", **parts)
    if name in ("transpose", "swapaxes") and is_method and len(args) > 1:
        count = len(args)
        axes = itertools.permutations(range(count)) if name == "transpose" else [(-1, -2), (-2, -3), (0, 1), (1, 2)]
        for order in itertools.islice(axes, 24):
            yield "transpose", ast.Call(e.func, [_number(i) for i in order], [])
    if name == "range" and place.role == "iter":
        yield from (
            ("index", filled(t, e=each)) for each in args for t in ("range(e + 1)", "range(e - 1)", "range(1, e)")
        )


def _is_module(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "math", "scipy")


def _number(n: int) -> ast.expr:
    return ast.Constant(n) if n >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-n))


def _of_axes(e: ast.Call, *, is_method: bool) -> Iterator[tuple[str, ast.expr]]:
    """The same along every other axis, with and without keepdims."""
    at = 0 if is_method else 1
    given = {k.arg: k.value for k in e.keywords}
    old = given.get("axis", e.args[at] if len(e.args) > at else None)
    old_keep = isinstance(given.get("keepdims"), ast.Constant) and bool(getattr(given["keepdims"], "value", False))
    rest = [k for k in e.keywords if k.arg not in ("axis", "keepdims")]
    axes: list[ast.expr | None] = [None, *map(_number, (0, 1, -1, -2)), filled("(0, 1)")]
    for axis in axes:
        for keep in (False, True):
            is_same = (axis is None) == (old is None) and (axis is None or old is None or same(axis, old))
            if not (is_same and keep == old_keep):
                keywords = [ast.keyword("axis", axis)] if axis is not None else []
                keywords += [ast.keyword("keepdims", ast.Constant(True))] if keep else []
                yield "keepdims" if is_same else "axis", ast.Call(e.func, e.args[:at], rest + keywords)


def einsums(text: str) -> Iterator[str]:
    """The same with two letters of one operand exchanged, one letter changed, or another order of what comes out."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    parts = [*inputs.split(","), *([output] if arrow else [])]
    letters = sorted({c for c in text if c.isalpha()})
    seen = {text}
    for n, part in enumerate(parts):
        news = ["".join(p) for p in itertools.permutations(part)] if len(part) <= 4 and "." not in part else []
        places = [i for i, c in enumerate(part) if c.isalpha()]
        news += [part[:i] + c + part[i + 1 :] for i in places for c in letters]
        news += [
            part[:i] + part[j] + part[i + 1 : j] + part[i] + part[j + 1 :] for i, j in itertools.combinations(places, 2)
        ]
        for new in news:
            changed = [*parts[:n], new, *parts[n + 1 :]]
            whole = ",".join(changed[:-1]) + "->" + changed[-1] if arrow else ",".join(changed)
            if whole not in seen:
                seen.add(whole)
                yield whole
