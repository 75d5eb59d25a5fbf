"""A share of the fuzzers' cases: none may end in a traceback, a hang, too much memory, or nonsense that is accepted."""

import os
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the fuzzers limit memory as Linux does it", allow_module_level=True)

from tests.fuzz.base import make_base
from tests.fuzz.kinds import KINDS, use
from tests.fuzz.run import run_kind
from tests.training.tiny import needs_the_extra_train

needs_the_extra_train()
CASES, SEED = (int(os.environ.get(name, usual)) for name, usual in (("FUZZ_CASES", 130), ("FUZZ_SEED", 0)))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_input_ends_in_a_clear_line(base, kind, thorough):
    """Without --thorough, a third of the cases."""
    share, _ = KINDS[kind]
    count = CASES * share // sum(each for each, _ in KINDS.values()) // (1 if thorough else 3)
    for number, outcome in enumerate(run_kind(base, kind, SEED, max(1, count))):
        assert outcome.what in ("accepted", "refused"), f"case {number} of seed {SEED}: {outcome.said[-700:]}"


def test_what_they_spoil_is_right_before(base):
    for name in base.checkpoints.keys() - {"choice"}:
        assert use(name, base.checkpoints[name]).what == "accepted", name
