"""The commands, run as a user runs them."""

import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from fnmatch import fnmatchcase
from pkgutil import resolve_name
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

import npbert.__main__
from npbert import Linear, __version__
from npbert.cli import COMMANDS, NpbertCommand, main
from npbert.cli.command import flag, is_required, values_of
from npbert.cli.training import GROUPS
from npbert.training.finetune import FinetuneSettings
from npbert.training.pretrain import PretrainSettings
from tests.tables import one_in


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "npbert", "params", "bert-tiny"]
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (process.returncode, process.stderr) == (1, b"")


def test_ctrl_c_and_a_second_one_on_the_way_out(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["npbert", "params", "bert-tiny"])
    for place, said in (("blocks.models.parameter_table", "\nstopped\n"), ("tell", "")):
        monkeypatch.setattr(f"npbert.cli.{place}", Mock(side_effect=KeyboardInterrupt))
        assert npbert.__main__.main() == 130
        assert capsys.readouterr().err == said


def test_ctrl_c_while_the_command_is_being_imported(monkeypatch, capsys):
    whoever_looks_for_it = SimpleNamespace(find_spec=Mock(side_effect=KeyboardInterrupt))
    monkeypatch.delitem(sys.modules, "npbert.cli")
    monkeypatch.setattr(sys, "meta_path", [whoever_looks_for_it, *sys.meta_path])
    assert npbert.__main__.main() == 130
    assert capsys.readouterr() == ("", "")


def test_a_name_that_the_encoding_of_the_output_does_not_have(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")  # as of a pipe on Windows
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["npbert", "examples", "\u732b"])
    assert npbert.__main__.main() == 0
    assert out.buffer.getvalue().decode().splitlines()[-1] == os.path.join(r"\u732b", "train.tsv")  # noqa: PTH118


REFUSED = {
    "pretrain gone": "--corpus is missing, wanted at least one file or folder of text",
    "finetune x --model x --train x --task swagg": "--task is 'swagg', wanted one of *; did you mean swag?",
    "": "COMMAND is missing, wanted one of fill-mask, *, doctor",
    "finetun run": "unknown command 'finetun'; did you mean finetune?",
    "translate": "unknown command 'translate', wanted one of fill-mask, *, doctor",
    "-x": "unknown option -x",
    "embed x file --normalize=false": "unexpected argument 'false'",
    "vocab --out x text.txt": "unknown option --out; did you mean --output?",  # options are written out
    "finetune run --batchsize=8": "unknown option --batchsize; did you mean --batch-size?",
    "pretrain run --steps 1e3": "--steps is '1e3', wanted a whole number",
    "embed folder --pooling poler": "--pooling is 'poler', wanted one of *, pooler*; did you mean pooler?",
    "embed ''": "FOLDER is missing, wanted a folder",  # to the system it would be this folder
    "embed --layer --json": "--layer is missing, wanted a whole number",
    "gradcheck LayerNrom": "BLOCK is 'LayerNrom', wanted one of *; did you mean LayerNorm?",
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.items())
def test_arguments_that_are_not_understood(arguments, said, capsys, tmp_path, monkeypatch):
    """The command's own usage in a line, where there is more, and what was wrong, before anything is written."""
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(arguments)) == 2
    usage, more, error = capsys.readouterr().err.splitlines()
    prog = f"npbert {arguments.split()[0]}" if " " in arguments and "finetun " not in arguments else "npbert"
    assert usage.startswith(f"usage: {prog} ")
    assert usage.endswith(" [options]")
    assert more.strip() == f"{prog} --help for more"
    assert fnmatchcase(error, f"{prog}: error: {said.replace('[', '[[]')}"), error
    assert not list(tmp_path.iterdir())


def test_what_looks_like_an_option_and_is_none(npbert, checkpoints):
    """A negative number, a value with a space, and all that follows --."""
    assert npbert("embed", checkpoints["embed"], "--layer", "-2", stdin=b"cat").status == 0
    assert npbert("answer", checkpoints["answer"], "--question", "--cat or dog?", stdin=b"a cat").status == 0
    assert "--folder is not a checkpoint" in npbert("embed", "--", "--folder", stdin=b"cat").err


@pytest.mark.parametrize("words", ["--help", "help", "help embed", *(f"{command} --help" for command in COMMANDS)])
def test_help_fits_a_terminal(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(words.split()) == 0
    command = " ".join(word for word in words.split() if word in COMMANDS)
    said = capsys.readouterr().out
    assert not [line for line in said.splitlines() if len(line) > 80]
    assert said.startswith(f"usage: npbert {command or 'COMMAND'} ")
    wanted = ["-h, --help", "-q, --quiet", "-v, --verbose"]
    assert all(name in said for name in (wanted if command else COMMANDS))
    assert not re.search(r"%\(|None|[a-z]-$", said, re.MULTILINE), "a name with a hyphen stays whole"


def test_every_setting_has_its_place_in_the_help():
    placed = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(placed) == sorted(
        {entry.name for kind in (PretrainSettings, FinetuneSettings) for entry in fields(kind)}
    )


def test_version(capsys):
    assert main(["--version"]) == 0
    python = ".".join(map(str, sys.version_info[:3]))
    assert capsys.readouterr().out == f"npbert {__version__} (Python {python}, NumPy {np.__version__})\n"


def test_gradcheck_has_a_line_for_each_block_and_a_status(monkeypatch, capsys):
    right = Linear.backward
    for backward, proof, said in (
        (right, r"\d+ ms", "PASS: 435 derivatives, proved in 3 of 3 blocks."),
        (lambda self, dy, tape: 2 * right(self, dy, tape), "no", "FAIL: 435 derivatives, proved in 0 of 3 blocks."),
    ):
        monkeypatch.setattr(Linear, "backward", backward)
        assert main(["gradcheck", "FeedForward"]) == said.startswith("FAIL")
        out = capsys.readouterr().out
        assert len(re.findall(f"^FeedForward, .* {proof} ", out, re.MULTILINE)) == 3
        assert out.splitlines()[-2] == said


def leaves(kind, name=""):
    """Each command by the words that call it: `plot` and `learn` have commands of their own."""
    for below, (place, *_) in kind.commands.items():
        found = resolve_name(f"npbert.cli.{place}")
        yield f"{name} {below}".strip(), found
        yield from leaves(found, below)


LEAVES = {name: kind for name, kind in leaves(NpbertCommand) if name != "plot"}
ORDERS = {  # how many values the words give
    "pretrain": (3, ["run --steps 2 --corpus a b", "--corpus a b --steps 2 run", "--corpus a b --steps=2 run"]),
    "search": (
        5,
        ["folder file q r --top-k 2 -q", "-q folder --top-k 2 file q r", "folder --quiet file q --top-k 2 r"],
    ),
}


@pytest.mark.parametrize(("name", "count", "orders"), [(name, *orders) for name, orders in ORDERS.items()])
def test_options_may_stand_anywhere(name, count, orders):
    found = [values_of(words.split(), LEAVES[name]) for words in orders]
    assert len(found[0]) == count and all(other == found[0] for other in found)


def all_of(kind):
    """Words that name, wherever a file or a folder is wanted, one that is not there."""
    for entry in kind.entries():
        if is_required(entry) or entry.metadata["value"] in ("FILE", "FOLDER", "MODEL"):
            yield from (*(() if "is_argument" in entry.metadata else (flag(entry),)), "gone.png")


NUMBERS = [
    ([*name.split(), *all_of(kind)], entry, name)
    for name, kind in LEAVES.items()
    for entry in kind.entries()
    if entry.type.startswith(("int", "float")) and "is_argument" not in entry.metadata
]


@pytest.mark.parametrize(("words", "entry", "name"), one_in(5, NUMBERS))
def test_a_wrong_number_is_said_by_its_option_before_anything_is_read_or_written(
    words, entry, name, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    counts_from_the_end = re.search("from (-1 at )?the end", entry.metadata["help"]) is not None
    for value in ("-999999999", "x", "", "nan", "1e999")[counts_from_the_end:]:
        assert main([*words, flag(entry), value]) == 2
        *_, error = capsys.readouterr().err.splitlines()
        assert re.match(rf"npbert {name}: error: {flag(entry)} ", error), error
        assert not list(tmp_path.iterdir())
