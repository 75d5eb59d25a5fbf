"""A share of the fuzzers' cases: none may end in a traceback, a hang, too much memory, or nonsense that is accepted.

`python -m tests.fuzz` tries thousands, as .ci/run does.
"""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the fuzzers limit memory as Linux does it", allow_module_level=True)

from tests.training.tiny import needs_the_extra_train

CASES = 300
AT_ONCE = 100


@pytest.fixture(scope="session")
def base():
    from tests.fuzz.run import a_base

    with a_base() as made:
        yield made


def shares():
    """(kind, first, number of cases), in pieces that several processes can share out."""
    try:
        needs_the_extra_train()
        from tests.fuzz.run import KINDS
    except pytest.skip.Exception as skip:
        pytest.skip(str(skip), allow_module_level=True)
    total = sum(share for share, _ in KINDS.values())
    for kind, (share, _) in KINDS.items():
        count = round(CASES * share / total)
        yield from ((kind, first, min(AT_ONCE, count - first)) for first in range(0, count, AT_ONCE))


@pytest.mark.parametrize(("kind", "first", "count"), list(shares()))
def test_wrong_input_ends_in_a_clear_line(base, kind, first, count):
    from tests.fuzz.run import run_kind

    bad = [
        f"python -m tests.fuzz --kind {kind} --number {number}: {outcome.what}: {outcome.said[-700:]}"
        for number, outcome in run_kind(base, kind, 0, count, first)
        if not outcome.is_good
    ]
    assert not bad, "\n".join(bad[:5])


@pytest.mark.parametrize("name", ["fill-mask", "embed", "classify", "regression", "tag", "answer", "pretraining"])
def test_what_they_spoil_is_right_before(base, name):
    from tests.fuzz.kinds import use

    assert use(name, base.checkpoints[name]).what == "accepted"
