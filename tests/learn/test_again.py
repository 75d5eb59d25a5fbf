"""What is asked again: variants of what is right, after days, told from the files alone."""

import datetime
import os

import pytest

from npbert.learn import NOT_BEGUN
from npbert.learn.exercises import VARIANTS
from npbert.learn.folder import DAYS, ask
from npbert.learn.judge import judge as judged
from tests.learn.answers import write

NOW = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.slug)
def test_the_librarys_own_answer_is_right(variant, judge):
    (part,) = variant.parts
    assert judge(variant, variant.source).status == NOT_BEGUN
    assert judged(part, part.right) is None


def test_variants_are_asked_after_days_and_stay_open_until_they_are_right(tmp_path):
    def at(days, right):
        return ask(tmp_path, lambda exercise, path: path.name in right, NOW + datetime.timedelta(days=days))

    assert at(0, ()) is None
    file = write(7, tmp_path)
    os.utime(file, (NOW.timestamp(),) * 2)
    assert at(0, ()) is None
    asked = at(0, (file.name,))
    variant, path = asked
    assert (variant.number, path.name) == (107, "107_layer_norm_again.py")
    assert at(5, (file.name,)) == asked
    os.utime(path, (NOW.timestamp(),) * 2)
    right = (file.name, path.name)
    assert at(DAYS[1] - 0.1, right) == NOW.date() + datetime.timedelta(days=DAYS[1])
    assert at(DAYS[1], right)[1].name == "107_layer_norm_again_2.py"


def test_the_command(learn, tmp_path, in_this_process):
    assert "Nothing to repeat yet" in learn("again")[1]
    (tmp_path / "backprop").mkdir()
    write(2, tmp_path / "backprop")
    assert "102_linear_again.py: Linear, as PyTorch stores it." in learn("again")[1]
    status, out, _ = learn("check 102")
    assert status == 1 and out.startswith("102 Linear, as PyTorch stores it: not begun")
