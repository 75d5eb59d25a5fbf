"""Whatever is in a file, the answer is one clear message, and what it advises works."""

import os
import re
import sys
from pathlib import Path

import pytest

from npbert.learn import WRONG
from npbert.learn.failure import import_of
from tests.learn.answers import answered, edited, right, right_answer
from tests.tables import one_in

ROWS = Path(__file__).with_name("said.txt").read_text(encoding="utf-8").split("\n== ")[1:]
MENDED = [
    row for row in ROWS if re.search(r"\n-- .*line \d+( \(| computes|, this is)|from line|not used", row, re.IGNORECASE)
]
PLAIN = [row for row in ROWS if row not in MENDED]
MODULES = [vars(module) for name, module in sys.modules.items() if name.startswith("npbert")]
NAMES = sorted(name for name in set().union(*MODULES) if name.isidentifier() and not name.startswith("__"))


@pytest.mark.parametrize("row", [*one_in(3, PLAIN), *one_in(9, MENDED)], ids=lambda row: row.replace("\n", " ")[:40])
def test_what_is_wrong_and_what_helps_is_said(row, judge, monkeypatch):
    body, *wanted = row.rstrip().split("\n-- ")
    head, _, body = body.partition("\n")
    number, _, change = head.partition(" ")
    steps = "\n".join(next(iter(right(int(number)).values())).splitlines()[:-1]) if "…" in body else ""
    changes = [change, *body.removeprefix("& ").split("\n& ")] if change else []
    text = (
        edited(right_answer(int(number)), list(filter(None, changes)))
        if change
        else answered(int(number), body.replace("…", steps))
    )
    if row not in MENDED:
        monkeypatch.setattr("npbert.learn.judge.findings_of", lambda compared: [])
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        verdict = judge(int(number), f"{text}\n\nSUMS, RNG = [], np.random.default_rng(0)\n")
    said = f"{verdict.status}: {verdict.says}\n\n{verdict.because}".lower()
    assert [words for words in (WRONG, *wanted) if words.replace("⏎", "\n").lower() not in said] == []
    assert verdict.because.count("\n") < 20


def test_an_import_that_is_advised_works():
    imports = {name: import_of(name) for name in NAMES}
    assert sum(map(bool, imports.values())) > 100
    for name, line in imports.items():
        exec(line, brought := {})
        assert not line or name in brought
