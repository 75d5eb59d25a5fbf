"""The names that the author's own code gives to gradients, so that they are told in these."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from npbert.gradcheck.explain.code import Code


def d(name: str) -> str:
    """The gradient's name, where the code gives it none: dweight for weight."""
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


class Names:
    """dy: what the author's backward calls the gradient that it is given.   inputs: what it returns gradients of"""

    def __init__(self, backward: Code | None, inputs: list[str]) -> None:
        arguments = [] if backward is None else [each.arg for each in backward.entry.args.args]
        self.dy = arguments[1] if len(arguments) > 1 else "dy"
        nodes = [] if backward is None else ast.walk(backward.entry)
        pairs = [
            (name, value.id) for node in nodes for name, value in _given(node, inputs) if isinstance(value, ast.Name)
        ]
        found = {name: text for name, text in pairs if text[:1] in "dg" and text != self.dy}
        self._found = {name: text for name, text in found.items() if list(found.values()).count(text) == 1}

    def of(self, name: str) -> str:
        """The variable that backward adds to this parameter's gradient, or returns for this input: dW for weight."""
        return self._found.get(name, d(name))


def _given(node: Any, inputs: list[str]) -> Iterator[tuple[str, Any]]:
    """The parameter, and what is added to its gradient: dW in self.weight.add_grad(dW) and self.weight.grad += dW; the
    inputs, and what is returned."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_grad":
        owner: Any = node.func.value
        if isinstance(owner, ast.Attribute) and node.args:
            yield owner.attr, node.args[0]
    elif isinstance(node, ast.AugAssign | ast.Assign):
        target: Any = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == "grad" and isinstance(target.value, ast.Attribute):
            yield target.value.attr, node.value
    elif isinstance(node, ast.Return) and node.value is not None:
        returned = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        yield from zip(inputs, returned, strict=False) if len(returned) == len(inputs) else ()
