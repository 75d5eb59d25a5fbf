"""The shapes of variables, as the docstrings and the comments beside the code declare them."""

from __future__ import annotations

import ast
import re
from functools import cache

from npbert.pages.site.sources import Source
from npbert.pages.site.statements import Function, assignments

GREEK = {"x̂": "x_hat", "σ": "sigma", "μ": "mu", "γ": "gamma", "β": "beta", "W₁": "w1", "W₂": "w2"}
_SIZE = r"(?:…|\.\.\.|n|d|[A-Z]|\d+|[A-Z] [·/] [A-Z]|\d ?· ?[A-Z]|M or T|heads)"
_DIMS = rf"\({_SIZE}(?:, ?{_SIZE})*,?\)"
_WORD = r"[^\W\d_][\ŵ′]*"
_DECLARED = re.compile(rf"((?:{_WORD})(?: {_WORD})?(?:, {_WORD})*(?: and {_WORD})?)[:]? ({_DIMS})")
_IN_COMMENT = re.compile(rf"#.*?({_DIMS})")

Shapes = dict[str, str]


def declared(text: str) -> Shapes:
    """Variable by variable, what a text says of shapes: "x (N, I)   weight W (I, O)" or "k, v (N, D)"."""
    found: Shapes = {}
    for names, dims in _DECLARED.findall(text):
        for name in re.findall(_WORD, names):
            found.setdefault(name, dims)
            if name in GREEK:
                found.setdefault(GREEK[name], dims)
    for name in [name for name in found if len(name) == 1]:  # the papers' capitals are small letters in code
        found.setdefault(name.lower(), found[name])
    return found


def commented(source: Source, function: Function) -> Shapes:
    """What the comments behind assignments say: `mu = …  # (N, 1)`."""
    found: Shapes = {}
    for node in assignments(function):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            line = source.lines[(node.end_lineno or node.lineno) - 1]
            comment = _IN_COMMENT.match(line[(line.rfind("  #") + 2) :]) if "  #" in line else None
            if comment:
                found.setdefault(node.targets[0].id, comment[1])
    return found


def shapes_of(source: Source, owner: ast.ClassDef | None, function: Function) -> Shapes:
    """The shapes of the variables of a function: what is nearest has the last word.

    Near is what its own docstring and comments say, then those of the function that it is the backward of, then the
    docstring of its class, then the class's other methods. A gradient, dx, has the shape of x.
    """
    texts = [_both(source, function)]
    around = owner.body if owner else source.tree.body
    functions = [node for node in around if isinstance(node, Function) and node is not function]
    undone = function.name.removesuffix("_backward")
    texts += [_both(source, node) for node in functions if node.name == undone != function.name]
    if owner:
        texts.append(declared(ast.get_docstring(owner) or ""))
        texts += [_both(source, node) for node in functions if not node.name.endswith("_backward")]
    found: Shapes = {}
    for text in texts:
        for name, dims in text.items():
            found.setdefault(name, dims)
    return found


def shape_of(name: str, shapes: Shapes) -> str:
    """The shape of a variable, "" where nobody says it."""
    if name in shapes:
        return shapes[name]
    if name.startswith("d") and len(name) > 1:
        return shape_of(name[1:], shapes)
    return ""


@cache
def _both(source: Source, function: Function) -> Shapes:
    return {**declared(ast.get_docstring(function) or ""), **commented(source, function)}
