"""Wrong gradients that shipped elsewhere, planted one by one: the checks must reject every one of them.

Each twin differs from the right layer by one mistake, and meets the same inputs. That the right ones are believed is in
test_catalogue.py.
"""

from importlib import import_module

import pytest

from npbert import TapeError
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import REFUTED, GradientError, check_directions, check_gradients, prove
from tests.planted import BETWEEN, BUGS, build, plant, remembering
from tests.tables import one_in
from tests.test_catalogue import NO_MODELS

LARGE = ("Encoder", "Checkpointed", "Bert", "Electra")
PLANTED = [(bug, block) for bug in BUGS for block in bug.blocks]
WRONG = [(bug, block) for bug, block in PLANTED if not bug.message]
LARGER = [case for case in WRONG if case[1].startswith(LARGE)]
LARGER_FIRST = [(bug, block) for bug, block in LARGER if block == bug.blocks[0]]  # once is enough for each bug
SMALL = [case for case in WRONG if case not in LARGER]


def name_of(value):
    return getattr(value, "name", value)


@pytest.mark.parametrize(("bug", "block"), one_in(3, LARGER), ids=name_of)
def test_a_wrong_derivative_of_a_large_block_shows_along_two_directions(bug, block, no_edits):
    layer, inputs, rng = build(bug, block)
    assert not check_directions(layer, *inputs, rng=rng, directions=2)


@pytest.mark.parametrize(("bug", "block"), [*one_in(5, SMALL), *one_in(99, LARGER_FIRST)], ids=name_of)
def test_a_wrong_derivative_is_refuted_and_its_part_named(bug, block, no_edits):
    layer, inputs, rng = build(bug, block)
    proof = prove(layer, *inputs, rng=rng)
    assert proof.verdict == REFUTED and proof.wrong
    if part := block.partition("/")[2]:
        assert f" of {part} (" in check_gradients(layer, *inputs, rng=rng).diagnosis[0].subject


@pytest.mark.parametrize(("bug", "block"), [each for each in PLANTED if each not in WRONG], ids=name_of)
def test_a_broken_promise_is_said(bug, block, no_edits):
    layer, inputs, rng = build(bug, block)
    with pytest.raises((GradientError, TapeError, ValueError)) as raised:
        (check_directions if block.startswith(LARGE) else check_gradients)(layer, *inputs, rng=rng)
    assert bug.message in str(raised.value)


@pytest.mark.parametrize("name", NO_MODELS)
def test_a_tape_kept_on_self_is_seen(name):
    layer, inputs, rng = CATALOGUE[name].make(remembering(CATALOGUE[name].layer_class))
    with pytest.raises(GradientError, match=BETWEEN):
        check_directions(layer, *inputs, rng=rng)


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.check], ids=name_of)
def test_what_no_derivative_shows_is_found_by_another_test(bug, monkeypatch):
    module, call = bug.check
    names = vars(import_module(module))
    eval(call, names)
    plant(bug, monkeypatch)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        eval(call, names)
