"""The attacks: no wrong backward is proved or right, no right one refuted or wrong, and nothing is left behind."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from npbert.gradcheck import NOT_PROVED, PROVED, GradientError, check_gradients, prove
from tests.gradcheck.attacks import left_behind, truth
from tests.gradcheck.attacks.linear import LINEAR
from tests.gradcheck.attacks.right import PROVABLE, UNPROVED
from tests.gradcheck.attacks.styles import at
from tests.gradcheck.attacks.wrong import EPSILONS, SLIGHT, WRONG

pytestmark = pytest.mark.filterwarnings("ignore")
COMPLEX = {"step": 1e-30j, "tolerance": 1e-13}


def judged(case):
    """Whether `check_gradients` says that a case is right, and the verdict of the proof."""
    try:
        report = check_gradients(*truth.made(case))
    except GradientError:
        return False, prove(*truth.made(case)).verdict
    return report.ok, report.proof.verdict


@pytest.mark.parametrize("name", WRONG | SLIGHT)
def test_no_wrong_backward_is_proved_or_right(name):
    case = (WRONG | SLIGHT)[name]
    assert truth.error_of(case, **COMPLEX if name in SLIGHT else {}) > 1
    is_right, verdict = judged(case)
    assert not is_right
    assert verdict != PROVED


@pytest.mark.parametrize("name", LINEAR)
def test_no_backward_is_right_that_is_not_linear_in_dy(name):
    assert truth.error_of(LINEAR[name]) > 1
    assert not judged(LINEAR[name])[0]


@pytest.mark.parametrize("name", EPSILONS)
def test_a_small_constant_that_backward_leaves_out_is_named(name):
    assert truth.error_of(EPSILONS[name], **COMPLEX) > 1
    report = check_gradients(*EPSILONS[name])
    assert report.proof.verdict == NOT_PROVED
    assert "right but for 1e-09" in str(report)


@pytest.mark.parametrize("name", PROVABLE | UNPROVED)
def test_a_right_backward_is_right_and_proved_where_known_laws_suffice(name):
    case = (PROVABLE | UNPROVED)[name]
    assert truth.is_right(case)
    assert judged(case) == (True, PROVED if name in PROVABLE else NOT_PROVED)


@pytest.mark.parametrize("name", at(1.0))
def test_each_style_is_right_by_differences(name):
    assert truth.is_right(at(1.0)[name])


@pytest.mark.parametrize(("scale", "proved"), [(1e-6, 40), (1e-3, 40), (1.0, 40), (1e3, 37), (1e6, 37)])
def test_no_style_is_wrong_at_any_scale_and_how_many_are_proved(scale, proved):
    verdicts = {name: judged(case) for name, case in at(scale).items()}
    assert [name for name, (is_right, _) in verdicts.items() if not is_right] == []
    assert sum(verdict == PROVED for _, verdict in verdicts.values()) == proved


@pytest.mark.parametrize("check", [prove, check_gradients])
def test_a_matrix_is_refused(check):
    with pytest.raises(TypeError, match=r"an input is an np\.matrix, wanted an array"):
        check(lambda x: x * x, lambda dy, x: 2 * dy @ x, np.ones((2, 2)).view(np.matrix))


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
