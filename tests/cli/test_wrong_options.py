"""A wrong number is said by the option's name before anything is read or written, and the status is 2."""

import re

import pytest

from npbert.cli import main
from npbert.cli.command import flag, is_required
from tests.cli.test_main import LEAVES
from tests.tables import one_in

VALUES = ("-999999999", "x", "", "nan", "1e999")


def all_of(kind):
    """Words that name, wherever a file or a folder is wanted, one that is not there."""
    for entry in kind.entries():
        if is_required(entry) or entry.metadata["value"] in ("FILE", "FOLDER", "MODEL"):
            yield from (*(() if "is_argument" in entry.metadata else (flag(entry),)), "gone")


OPTIONS = [
    ([*name.split(), *all_of(kind)], entry, name)
    for name, kind in LEAVES.items()
    for entry in kind.entries()
    if entry.type.startswith(("int", "float")) and "is_argument" not in entry.metadata
]


@pytest.mark.parametrize(("words", "entry", "name"), one_in(5, OPTIONS))
def test_a_wrong_number_is_said_first_of_all(words, entry, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts_from_the_end = re.search("from (-1 at )?the end", entry.metadata["help"]) is not None
    for value in VALUES[counts_from_the_end:]:
        assert main([*words, flag(entry), value]) == 2
        *_, error = capsys.readouterr().err.splitlines()
        assert re.match(rf"npbert {name}: error: {flag(entry)} ", error), error
        assert not list(tmp_path.iterdir())
