"""The names that the author's own code gives to gradients, so that they are told in these."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from npbert.gradcheck.explain.code import Code


def d(name: str) -> str:
    """The gradient's name, where the code gives it none: dweight for weight."""
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


def names_of_gradients(backward: Code | None, inputs: list[str]) -> dict[str, str]:
    """By parameter and input, the variable that the author's backward adds or returns: {"weight": "dW", "x": "dx"}."""
    found: dict[str, str] = {}
    nodes: list[Any] = [] if backward is None else list(ast.walk(backward.entry))
    for node in nodes:
        for name, value in _added(node):
            if isinstance(value, ast.Name):
                found[name] = value.id
        if isinstance(node, ast.Return) and node.value is not None:
            returned = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if len(returned) == len(inputs):
                pairs = zip(inputs, returned, strict=True)
                found |= {name: value.id for name, value in pairs if isinstance(value, ast.Name)}
    dy = name_of_dy(backward)
    named = {name: text for name, text in found.items() if text[:1] in "dg" and text != dy}
    return {name: text for name, text in named.items() if list(named.values()).count(text) == 1}


def name_of_dy(backward: Code | None) -> str:
    """What backward calls the gradient that it is given."""
    arguments = [] if backward is None else [each.arg for each in backward.entry.args.args]
    return arguments[1] if len(arguments) > 1 else "dy"


def _added(node: Any) -> Iterator[tuple[str, Any]]:
    """The parameter and what is added to its gradient, in self.weight.add_grad(dW) and self.weight.grad += dW."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_grad":
        owner: Any = node.func.value
        if isinstance(owner, ast.Attribute) and node.args:
            yield owner.attr, node.args[0]
    if isinstance(node, ast.AugAssign | ast.Assign):
        target: Any = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == "grad" and isinstance(target.value, ast.Attribute):
            yield target.value.attr, node.value
