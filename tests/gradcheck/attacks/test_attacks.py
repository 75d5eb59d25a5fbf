"""The attacks: no wrong backward is proved or right, no right one refuted or wrong, and nothing is left behind."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from npbert.gradcheck import NOT_PROVED, PROVED, GradientError, check_gradients, prove
from tests.gradcheck.attacks import left_behind, truth
from tests.gradcheck.attacks.linear import LINEAR
from tests.gradcheck.attacks.right import PROVABLE, UNPROVED
from tests.gradcheck.attacks.styles import SCALES, STYLES, at
from tests.gradcheck.attacks.wrong import EPSILONS, SLIGHT, WRONG

pytestmark = pytest.mark.filterwarnings("ignore")
FINELY = {"step": 1e-30j, "tolerance": 1e-13}


def judged(case):
    """Whether `check_gradients` says that a case is right, and the verdict of the proof."""
    try:
        report = check_gradients(*truth.made(case))
    except GradientError:
        return False, prove(*truth.made(case)).verdict
    return report.ok, report.proof.verdict


@pytest.mark.parametrize("name", WRONG | LINEAR)
def test_each_wrong_backward_is_wrong_by_differences(name):
    assert truth.error_of((WRONG | LINEAR)[name]) > 1


@pytest.mark.parametrize("name", SLIGHT | EPSILONS)
def test_each_slight_mistake_is_one_by_complex_steps(name):
    assert truth.error_of((SLIGHT | EPSILONS)[name], **FINELY) > 1


@pytest.mark.parametrize("name", WRONG | SLIGHT)
def test_no_wrong_backward_is_proved_or_right(name):
    is_right, verdict = judged((WRONG | SLIGHT)[name])
    assert not is_right
    assert verdict != PROVED


@pytest.mark.parametrize("name", LINEAR)
def test_no_backward_is_right_that_is_not_linear_in_dy(name):
    assert not judged(LINEAR[name])[0]


@pytest.mark.parametrize("name", EPSILONS)
def test_the_constant_that_backward_leaves_out_is_named(name):
    report = check_gradients(*EPSILONS[name])
    assert report.proof.verdict == NOT_PROVED
    assert "right but for 1e-09" in str(report)


@pytest.mark.parametrize("name", PROVABLE | UNPROVED)
def test_each_right_backward_is_right_by_differences(name):
    assert truth.is_right((PROVABLE | UNPROVED)[name])


@pytest.mark.parametrize("name", PROVABLE)
def test_what_follows_by_known_laws_is_proved(name):
    assert judged(PROVABLE[name]) == (True, PROVED)


@pytest.mark.parametrize("name", UNPROVED)
def test_what_does_not_is_right_all_the_same(name):
    assert judged(UNPROVED[name]) == (True, NOT_PROVED)


@pytest.mark.parametrize("name", STYLES)
def test_each_style_is_right_by_differences(name):
    assert truth.is_right(at(name, 1.0))


@pytest.mark.parametrize("scale", SCALES)
def test_styles_are_proved_at_all_scales(scale):
    verdicts = {name: judged(at(name, scale)) for name in STYLES}
    assert {name: said for name, said in verdicts.items() if said != (True, PROVED)} == {}


def test_a_matrix_is_refused():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    for check in (prove, check_gradients):
        with pytest.raises(TypeError, match="an input is an np.matrix, wanted an array"):
            check(lambda x: x * x, lambda dy, x: 2 * dy @ x, matrix)


@pytest.mark.parametrize("check", [prove, check_gradients])
@pytest.mark.parametrize("name", left_behind.LEFT)
def test_nothing_is_left_behind_and_another_thread_notices_nothing(name, check):
    caches = left_behind.mask, left_behind.table
    for each in caches:
        each.cache_clear()
    case, computed, noticed = left_behind.LEFT[name](), left_behind.computed(), set()
    before, main = left_behind.state_of(case), threading.get_ident()

    def turn():
        if threading.get_ident() == main:
            noticed.add(pool.submit(left_behind.computed).result())

    with ThreadPoolExecutor(1) as pool:
        left_behind.hooks.append(turn)
        try:
            assert check(*case) or check is prove
        finally:
            left_behind.hooks.clear()
    assert left_behind.state_of(case) == before
    assert noticed <= {computed}
    assert all(repr(each(2)) == repr(each.__wrapped__(2)) for each in caches)
