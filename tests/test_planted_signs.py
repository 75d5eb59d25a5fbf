"""A wrong sign in any backward fails the test of a block: `pytest tests/test_planted_signs.py --thorough -v` is a table
of them.

Each gradient that a backward returns, adds to a parameter or hands to another backward is negated, one at a time.
"""

import ast
import inspect
import re
import textwrap

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import npbert
from tests import test_gradients as gradients
from tests.tables import one_in

EXAMPLES = {**dict.fromkeys(gradients.PARTS, 10), **dict.fromkeys(reversed(gradients.WHOLES), 4)}
ROOMS = {**vars(npbert.models), **vars(npbert.blocks), **vars(npbert.layers)}
BLOCKS = {name: ROOMS[name.partition(",")[0]] for name in EXAMPLES}


def negated(value):
    """A gradient, or each of several, with the wrong sign; None, the gradient of ids, as it is."""
    return tuple(map(negated, value)) if isinstance(value, tuple) else None if value is None else -value


class Planted(ast.NodeTransformer):
    """The code of a backward, in which the gradient of a number is negated; or, without a number, as it is.

    gradients: the code of each, in the order of their numbers.
    """

    def __init__(self, function, number=None):
        self.number, self.gradients = number, []
        self.code = self.visit(ast.parse(textwrap.dedent(inspect.getsource(function))))

    def negate(self, node):
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.negate(each) for each in node.elts], node.ctx)
        self.gradients.append(ast.unparse(node))
        is_planted = len(self.gradients) - 1 == self.number
        return ast.Call(ast.Name("negated", ast.Load()), [node], []) if is_planted else node

    def visit_Return(self, node):  # the name that ast looks for
        return ast.Return(self.negate(self.generic_visit(node).value))

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and re.search("add_grad|backward", node.func.attr):
            node.args[0] = self.negate(node.args[0])
        return node


BACKWARDS = {
    (owner, method): function
    for block in BLOCKS.values()
    for owner in block.__mro__[::-1]
    for method, function in vars(owner).items()
    if owner is not npbert.Layer and re.search("backward|slope", method)
}
SIGNS = {
    f"{owner.__name__}.{method}: {number}, {gradient}": (owner, method, number)
    for (owner, method), function in BACKWARDS.items()
    for number, gradient in enumerate(Planted(function).gradients)
}


def fails(name):
    """True if the test of this block finds a wrong gradient. (It need not look for the smallest example.)"""
    test = gradients.test_a_part if name in gradients.PARTS else gradients.test_a_whole

    @settings(max_examples=EXAMPLES[name], deadline=None, derandomize=True, phases=[Phase.generate])
    @given(data=st.data())
    def generated(data):
        test.hypothesis.inner_test(name, data)

    try:
        generated()
    except AssertionError as error:
        return "by backward, but" in str(error)
    return False


@pytest.mark.parametrize("name", one_in(4, SIGNS))
def test_a_wrong_sign_is_found(name, monkeypatch):
    owner, method, number = SIGNS[name]
    function, made = BACKWARDS[owner, method], {}
    code = ast.fix_missing_locations(Planted(function, number).code)
    exec(compile(code, function.__qualname__, "exec"), {**function.__globals__, "negated": negated}, made)
    monkeypatch.setattr(owner, method, made[method])
    assert any(fails(each) for each, block in BLOCKS.items() if issubclass(block, owner))
