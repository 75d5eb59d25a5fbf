"""The attacks: no wrong backward is proved or right, no right one refuted or wrong, and nothing is left behind."""

import pytest

from npbert.gradcheck import PROVED, REFUTED, check_gradients, prove
from tests.gradcheck.attacks import afterwards, truth
from tests.gradcheck.attacks.harder import HARDER
from tests.gradcheck.attacks.laws import EPSILONS
from tests.gradcheck.attacks.left_behind import LEFT
from tests.gradcheck.attacks.right import RIGHT
from tests.gradcheck.attacks.styles import ALL, STYLES, at
from tests.gradcheck.attacks.wrong import WRONG

pytestmark = pytest.mark.filterwarnings("ignore")

ATTACKS = WRONG | {f"harder, {name}": case for name, case in HARDER.items()}
STYLED = [(name, scale) for name, style in STYLES.items() for scale in ALL if scale in style.scales]


def told_wrong(case):
    """The arrays that check_gradients calls wrong. (Only that: to find out why takes far longer.)"""
    return [name for name, count in check_gradients(*truth.made(case)).wrong.items() if count]


def is_told_right(case):
    """What check_gradients says; a refusal is no praise."""
    try:
        return not told_wrong(case)
    except Exception:
        return False


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_is_wrong_by_differences(name):
    assert truth.wrong_by(ATTACKS[name]) > 1


@pytest.mark.parametrize("name", ATTACKS)
def test_no_wrong_backward_is_proved_or_told_as_right(name):
    try:
        verdict = prove(*truth.made(ATTACKS[name])).verdict
    except Exception as error:
        verdict = type(error).__name__
    assert verdict != PROVED
    assert not is_told_right(ATTACKS[name])


@pytest.mark.parametrize("name", RIGHT)
def test_each_right_backward_is_right_by_differences(name):
    assert truth.is_right(RIGHT[name])


@pytest.mark.parametrize("name", RIGHT)
def test_no_right_backward_is_refuted_or_told_as_wrong(name):
    assert prove(*truth.made(RIGHT[name])).verdict != REFUTED
    assert told_wrong(RIGHT[name]) == []


@pytest.mark.parametrize(("name", "scale"), [each for each in STYLED if each[1] in (1e-3, 1.0)])
def test_each_style_is_right_by_differences(name, scale):
    assert truth.is_right(at(name, scale))


@pytest.mark.parametrize(("name", "scale"), STYLED)
def test_no_style_is_told_as_wrong_at_any_scale(name, scale):
    assert told_wrong(at(name, scale)) == []


@pytest.mark.parametrize("name", EPSILONS)
def test_what_is_right_but_for_an_epsilon_is_not_told_as_wrong_without_it(name):
    assert prove(*EPSILONS[name]).verdict != PROVED
    report = check_gradients(*EPSILONS[name])
    assert report or "1e-07" in str(report) or "1e-7" in str(report)


@pytest.mark.parametrize("what", afterwards.CALLS)
@pytest.mark.parametrize("name", LEFT)
def test_nothing_is_left_behind(name, what):
    assert list(afterwards.left_after(name, what)) == []


@pytest.mark.parametrize("name", LEFT)
def test_another_thread_notices_nothing(name):
    assert afterwards.noticed_by_a_thread(name) == []
