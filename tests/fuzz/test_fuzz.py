"""A share of the fuzzers' cases: none may end in a traceback, a hang, too much memory, or nonsense that is accepted.

`python -m tests.fuzz` tries thousands, as .ci/run does.
"""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the fuzzers limit memory as Linux does it", allow_module_level=True)

from tests.fuzz.kinds import use
from tests.fuzz.run import a_base, counts, run_kind
from tests.training.tiny import needs_the_extra_train

needs_the_extra_train()
COUNTS = counts(130)


@pytest.fixture(scope="module")
def base():
    with a_base() as made:
        yield made


@pytest.mark.parametrize(("kind", "count"), [(kind, count) for kind, count in COUNTS.items() if count])
def test_wrong_input_ends_in_a_clear_line(base, kind, count, thorough):
    for number, outcome in enumerate(run_kind(base, kind, 0, count if thorough else -(-count // 3))):
        assert outcome.is_good, f"python -m tests.fuzz --kind {kind} --number {number}: {outcome.said[-700:]}"


def test_what_they_spoil_is_right_before(base):
    for name in base.checkpoints.keys() - {"choice"}:
        assert use(name, base.checkpoints[name]).what == "accepted", name
