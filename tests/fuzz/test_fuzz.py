"""A share of the fuzzers' cases: none may end in a traceback, a hang, too much memory, or nonsense that is accepted.

`python -m tests.fuzz` tries thousands, as .ci/run does.
"""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the fuzzers limit memory as Linux does it", allow_module_level=True)

from tests.fuzz.base import HEADS
from tests.fuzz.kinds import KINDS, use
from tests.fuzz.run import a_base, run_kind
from tests.training.tiny import needs_the_extra_train

needs_the_extra_train()
CASES = 300
TOTAL = sum(share for share, _ in KINDS.values())
COUNTS = {kind: round(CASES * share / TOTAL) for kind, (share, _) in KINDS.items()}


@pytest.fixture(scope="session")
def base():
    with a_base() as made:
        yield made


@pytest.mark.parametrize(("kind", "count"), [(kind, count) for kind, count in COUNTS.items() if count])
def test_wrong_input_ends_in_a_clear_line(base, kind, count):
    bad = [
        f"python -m tests.fuzz --kind {kind} --number {number}: {outcome.what}: {outcome.said[-700:]}"
        for number, outcome in run_kind(base, kind, 0, count)
        if not outcome.is_good
    ]
    assert not bad, "\n".join(bad[:5])


@pytest.mark.parametrize("name", [name for name in HEADS if name != "choice"])
def test_what_they_spoil_is_right_before(base, name):
    assert use(name, base.checkpoints[name]).what == "accepted"
