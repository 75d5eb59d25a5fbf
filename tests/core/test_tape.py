"""Tape: what is kept comes back in reverse order, and every misuse is named."""

import copy
import pickle

import numpy as np
import pytest

from npbert import NO_TAPE, Init, LayerNorm, Linear, Softmax, Tape, TapeError

RULE = "Backward undoes forward in reverse order, so each layer takes back what it kept, the last one first, once."
INIT = Init(np.random.default_rng(0), 1.0, np.float64)
X = np.random.default_rng(1).standard_normal((5, 3))
FIRST, SECOND = Linear(3, 4, INIT), Linear(4, 2, INIT)
FIRST_NAME, SECOND_NAME = "Linear (weight (3, 4), bias (4,))", "Linear (weight (4, 2), bias (2,))"


def forward(tape):
    return SECOND.forward(FIRST.forward(X, tape), tape)


def message(call):
    with pytest.raises(TapeError) as raised:
        call()
    text, rule = str(raised.value).split(RULE)
    assert rule == ""
    return text.rstrip()


def test_what_was_kept_comes_back_last_first_and_is_the_very_object():
    tape, one, other, array = Tape(), object(), object(), np.ones(2)
    for layer, values in ((one, (array,)), (other, (array, None)), (one, ()), (one, (None,)), (other, ((1, 2),))):
        tape.keep(layer, *values)
    assert len(tape) == 5
    assert (tape.take(other), tape.take(one), tape.take(one)) == ((1, 2), None, ())
    same, nothing = tape.take(other)
    assert same is array
    assert nothing is None
    assert tape.take(one) is array
    assert len(tape) == 0
    tape.check_empty()


def test_out_of_turn_is_named_and_the_tape_is_left_as_it_was():
    tape = Tape()
    y = forward(tape)
    assert message(lambda: FIRST.backward(np.ones((5, 4)), tape)) == (
        f"{FIRST_NAME} would take back what it kept, but on top of the tape is what {SECOND_NAME} kept: float64 (5, 4)."
    )
    dx = FIRST.backward(SECOND.backward(y, tape), tape)
    np.testing.assert_allclose(dx, y @ SECOND.weight.value.T @ FIRST.weight.value.T, rtol=1e-13)
    tape.check_empty()


def test_layers_that_look_alike_are_still_told_apart():
    one, twin = Linear(3, 3, INIT), Linear(3, 3, INIT)
    tape = Tape()
    twin.forward(one.forward(X, tape), tape)
    assert "on top of the tape is what Linear (weight (3, 3), bias (3,)) kept" in message(lambda: one.backward(X, tape))


def test_a_forgotten_backward_is_named():
    tape = Tape()
    y = forward(tape)
    SECOND.backward(y, tape)
    assert message(tape.check_empty) == (
        f"backward is over, but the tape still holds what {FIRST_NAME} kept: float64 (5, 3)."
    )


def test_a_second_backward_is_named():
    tape = Tape()
    y = forward(tape)
    FIRST.backward(SECOND.backward(y, tape), tape)
    assert message(lambda: SECOND.backward(y, tape)) == (
        f"{SECOND_NAME} would take back what it kept, but the tape is empty."
    )


@pytest.mark.parametrize("tape", [NO_TAPE, Tape(keeps=False)], ids=["NO_TAPE", "keeps=False"])
def test_no_backward_follows_a_forward_that_kept_nothing(tape):
    y = forward(tape)
    assert (len(tape), tape.rng, tape.keeps) == (0, None, False)
    tape.check_empty()
    assert message(lambda: SECOND.backward(y, tape)) == (
        f"{SECOND_NAME} would take back what it kept, but the tape keeps nothing: forward needs a tape of its own, "
        "`Tape()`."
    )


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_tape_cannot_be_copied(copied):
    tape = Tape()
    assert message(lambda: copied(tape)) == "a tape cannot be copied (it holds 0 entries)."
    forward(tape)
    assert message(lambda: copied({"in": [tape]} if copied is not copy.copy else tape)) == (
        f"a tape cannot be copied (it holds 2 entries; on top is what {SECOND_NAME} kept)."
    )
    assert len(tape) == 2


def test_two_calls_on_two_tapes_do_not_mix():
    """In whatever order the backwards come."""
    one, other = Tape(), Tape()
    y, z = FIRST.forward(X, one), FIRST.forward(2 * X, other)
    FIRST.zero_grad()
    FIRST.backward(y, one)
    np.testing.assert_allclose(FIRST.weight.grad, X.T @ y, rtol=1e-13)
    FIRST.backward(z, other)
    np.testing.assert_allclose(FIRST.weight.grad, X.T @ y + 2 * X.T @ z, rtol=1e-13)


def test_a_tape_can_be_read():
    tape, softmax = Tape(), Softmax()
    tape.keep(softmax, [X, (X[0].astype(np.float32), None)], (5, 3))
    LayerNorm(3, INIT).forward(X, tape)
    assert repr(tape).splitlines() == [
        "Tape of 2, the top first:",
        "  LayerNorm (gamma (3,), beta (3,)): float64 (5, 3), float64 (5, 1)",
        "  Softmax: float64 (5, 3), float32 (3,), NoneType, (5, 3)",
    ]


def test_an_empty_tape_is_still_a_tape():
    """`if tape` asks whether there is one, not whether something is on it."""
    assert Tape()
    assert NO_TAPE
    assert repr(Tape()) == "Tape of 0, the top first:"


@pytest.mark.parametrize("rng", [0, np.random], ids=["seed", "module"])
def test_a_tape_wants_a_generator(rng):
    with pytest.raises(TypeError, match=r"^rng is .*, wanted a Generator, such as np.random.default_rng\(0\), or None"):
        Tape(rng)
