"""What is asked again: variants of exercises."""

import pytest

from npbert.learn import NOT_BEGUN
from npbert.learn.exercises import VARIANTS
from npbert.learn.judge import judge as judged


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.slug)
def test_the_librarys_own_answer_is_right(variant, judge):
    (part,) = variant.parts
    assert judge(variant, variant.source).status == NOT_BEGUN
    assert judged(part, part.right) is None


def test_the_command(learn, in_this_process):
    assert learn("again")[1].startswith("Wrote 6 exercises into backprop/.\n\nOpen backprop/102_linear_again.py")
    status, out, _ = learn("check 102")
    assert status == 1 and out.startswith("102 Linear, as PyTorch stores it: not begun")
