"""Tape: what is kept comes back in reverse order, and every misuse is named."""

import copy
import pickle

import numpy as np
import pytest

from npbert import NO_TAPE, Init, Linear, Softmax, Tape, TapeError

RULE = " Backward runs in the reverse order of forward: each layer takes what it kept once, the last one first."
INIT = Init(np.random.default_rng(0), 1.0, np.float64)
X = np.random.default_rng(1).standard_normal((5, 3))
FIRST, SECOND, ALIKE = Linear(3, 4, INIT), Linear(4, 2, INIT), Linear(4, 2, INIT)
ONE, TWO = "Linear (weight (3, 4), bias (4,))", "Linear (weight (4, 2), bias (2,))"
WOULD = "cannot take what it kept:"


def forward(tape):
    return SECOND(FIRST(X, tape), tape)


def assert_refused(call, message):
    with pytest.raises(TapeError) as raised:
        call()
    assert str(raised.value) == message + RULE


def test_what_was_kept_comes_back_last_first_and_is_the_very_object():
    tape, one, other, array = Tape(), object(), object(), np.ones(2)
    for layer, values in ((one, (array,)), (other, (array, None)), (one, ()), (one, (None,)), (other, ((1, 2),))):
        tape.keep(layer, **dict(zip("ab", values, strict=False)))
    assert len(tape) == 5
    assert (tape.take(other), tape.take(one), tape.take(one)) == ((1, 2), None, ())
    same, nothing = tape.take(other)
    assert [same is array, nothing is None, tape.take(one) is array, len(tape)] == [True, True, True, 0]
    tape.check_empty()


def test_out_of_turn_is_named_and_the_tape_is_left_as_it_was():
    tape = Tape()
    y, kept = forward(tape), "kept: x (5, 4)."
    assert_refused(lambda: FIRST.backward(y, tape), f"{ONE} {WOULD} on top of the tape is what {TWO} {kept}")
    assert_refused(lambda: ALIKE.backward(y, tape), f"{TWO} {WOULD} on top of the tape is what another {TWO} {kept}")
    dh = SECOND.backward(y, tape)
    assert_refused(tape.check_empty, f"backward is over, but the tape still holds what {ONE} kept: x (5, 3).")
    dx = FIRST.backward(dh, tape)
    message = f"{TWO} {WOULD} the tape is empty: forward kept nothing on it, or it was taken already."
    assert_refused(lambda: SECOND.backward(y, tape), message)
    np.testing.assert_allclose(dx, y @ SECOND.weight.value.T @ FIRST.weight.value.T, rtol=1e-13)
    tape.check_empty()


@pytest.mark.parametrize("tape", [NO_TAPE, Tape(keeps=False), Tape(np.random.default_rng(0), keeps=False)])
def test_no_backward_follows_a_forward_that_kept_nothing(tape):
    y = forward(tape)
    assert (len(tape), tape.keeps, repr(tape) == "NO_TAPE") == (0, False, tape.rng is None)
    tape.check_empty()
    assert_refused(
        lambda: SECOND.backward(y, tape), f"{TWO} {WOULD} this tape keeps nothing: call forward with a `Tape()`."
    )


@pytest.mark.parametrize("copied", [copy.copy, pickle.dumps, lambda tape: copy.deepcopy([tape])])
def test_a_tape_cannot_be_copied(copied):
    tape = Tape()
    assert_refused(lambda: copied(tape), "a tape cannot be copied (it holds 0 entries).")
    forward(tape)
    assert_refused(lambda: copied(tape), "a tape cannot be copied (it holds 2 entries).")
    assert len(tape) == 2


def test_a_tape_is_one_though_it_is_empty():
    tape = Tape()
    assert (bool(tape), bool(NO_TAPE), repr(tape)) == (True, True, "an empty Tape")
    tape.keep(Softmax(), a=[X, (X[0], None)], b=None)
    assert repr(tape) == "Softmax: a [(5, 3), ((3,), None)], b None"
