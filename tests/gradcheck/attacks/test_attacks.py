"""The attacks: no wrong backward is proved or right, no right one refuted or wrong, and nothing is left behind."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from npbert.gradcheck import NOT_PROVED, PROVED, GradientError, check_gradients, prove
from npbert.gradcheck.inputs import is_float_array
from tests.gradcheck.attacks import left_behind
from tests.gradcheck.attacks.right import PROVABLE, STYLES, UNPROVED
from tests.gradcheck.attacks.wrong import ALONE, EPSILONS, FAINT, SLIGHT, WRONG
from tests.tables import one_in

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_edits")]


def made(case):
    """The arguments of a case: a tuple, or a function that makes them anew where they have a memory."""
    return case() if callable(case) else case


@pytest.mark.parametrize("name", WRONG | SLIGHT)
def test_no_wrong_backward_is_proved_or_right(name):
    case = (WRONG | SLIGHT)[name]
    assert not prove(*made(case))
    with suppress(GradientError):
        assert not check_gradients(*made(case)).ok


@pytest.mark.parametrize("name", FAINT)
def test_what_estimates_do_not_see_is_not_proved(name):
    assert not prove(*FAINT[name])


@pytest.mark.parametrize("name", ALONE)
def test_what_prove_does_not_see_is_not_right(name):
    with pytest.raises(GradientError):
        check_gradients(*ALONE[name]).raise_if_wrong()


@pytest.mark.parametrize("name", EPSILONS)
def test_a_small_constant_that_backward_leaves_out_is_named(name):
    report = check_gradients(*EPSILONS[name])
    assert report.proof.verdict == NOT_PROVED
    assert "right but for 1e-09" in str(report)


@pytest.mark.parametrize("name", PROVABLE | UNPROVED)
def test_a_right_backward_is_right_and_proved_where_known_laws_suffice(name):
    report = check_gradients(*(PROVABLE | UNPROVED)[name])
    assert report
    assert report.proof.verdict == (PROVED if name in PROVABLE else NOT_PROVED)


@pytest.mark.parametrize("scale", one_in(3, [1e6, 1.0, 1e-6]))
def test_each_style_is_proved_at_any_scale_of_its_first_array(scale):
    for name, case in STYLES.items():
        first = next(number for number, each in enumerate(case) if is_float_array(each))
        assert check_gradients(*case[:first], scale * case[first], *case[first + 1 :]).proof, name


@pytest.mark.parametrize("check", [prove, check_gradients])
def test_a_matrix_is_refused(check):
    with pytest.raises(TypeError, match=r"an input is an np\.matrix, wanted an array"):
        check(lambda x: x * x, lambda dy, x: 2 * dy @ x, np.ones((2, 2)).view(np.matrix))


@pytest.mark.parametrize("name", left_behind.LEFT)
def test_nothing_is_left_behind_and_another_thread_notices_nothing(name):
    case, cached, computed, noticed = left_behind.LEFT[name](), left_behind.cached(), left_behind.computed(), set()
    left_behind.mask.cache_clear()
    before, main = left_behind.state_of(case), threading.get_ident()
    note = noticed.add  # through which the check does not reach the set, to give it back empty

    def turn():
        if threading.get_ident() == main:
            note(pool.submit(left_behind.computed).result())

    with ThreadPoolExecutor(1) as pool:
        left_behind.hooks.append(turn)
        try:
            assert check_gradients(*case)
        finally:
            left_behind.hooks.clear()
    assert left_behind.state_of(case) == before
    assert noticed == {computed}
    assert left_behind.cached() == cached
