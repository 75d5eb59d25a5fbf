"""The commands, run as a user runs them."""

import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

import npbert.__main__
from npbert import Init, Linear, __version__
from npbert.cli import COMMANDS, NpbertCommand, main
from npbert.cli.command import flag, is_required
from npbert.cli.options import GROUPS
from npbert.cli.parser import values_of
from npbert.training.finetune import FinetuneSettings
from npbert.training.pretrain import PretrainSettings
from npbert.training.tasks import TASKS


def test_a_reader_that_has_gone():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "npbert", "params", "bert-tiny"]
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (process.returncode, process.stderr) == (1, b"")


def test_ctrl_c_and_a_second_one_on_the_way_out(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["npbert", "params", "bert-tiny"])
    for place, said in (("params.models.parameter_table", "\nstopped\n"), ("_say_stopped", "")):
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
    assert out.buffer.getvalue().decode().splitlines()[-1] == os.path.join(r"\u732b", "sentences.txt")  # noqa: PTH118


PRETRAIN, FINETUNE = "pretrain gone --corpus gone --vocabulary gone", "finetune gone --model gone --train gone"
REFUSED = {
    "pretrain gone": "--corpus is missing, wanted at least one file or folder of text",
    "pretrain gone --corpus gone": "--vocabulary is missing, wanted a folder with a tokenizer; `npbert vocab` makes "
    "one",
    "finetune gone": "--model is missing, wanted the folder of a checkpoint",
    "finetune gone --model gone": "--train is missing, wanted a labelled file",
    f"{PRETRAIN} --mask-probability 2": "--mask-probability is 2.0, wanted more than 0 and at most 1",
    f"{PRETRAIN} --steps 0": "--steps is 0, wanted at least 1",
    f"{PRETRAIN} --objective nps": "--objective is 'nps', wanted one of nsp, sop, none; did you mean nsp?",
    f"{FINETUNE} --task chess": f"--task is 'chess', wanted one of {', '.join(TASKS)}",
    f"{FINETUNE} --task swagg": f"--task is 'swagg', wanted one of {', '.join(TASKS)}; did you mean swag?",
    f"{FINETUNE} --metric f2": "--metric is 'f2', wanted one of accuracy, macro_f1, matthews, f1, loss",
    f"{FINETUNE} --task ner --positive x": "--positive is 'x', wanted none: only a classification has one",
    f"{FINETUNE} --task swag --choices 2": "--choices has 1 columns, wanted at least 2",
    f"{FINETUNE} --task ner --text word": "--text is 'word', wanted a number: columns of words and tags have no names",
    f"{FINETUNE} --first-row names": "--first-row is 'names', wanted header or example",
    f"{FINETUNE} --delimiter :": "--delimiter is ':', wanted one of tab, comma, semicolon",
    "embed gone --pooling first": "--pooling is 'first', wanted one of mean, cls, max, mean_sqrt_len_tokens, pooler",
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *REFUSED.items(),
        ("", "name a command, one of fill-mask, *, doctor"),
        ("finetun run", "there is no command 'finetun'; did you mean finetune?"),
        ("translate", "there is no command 'translate', wanted one of fill-mask, *, doctor"),
        ("--versoin", "there is no option --versoin; did you mean --version?"),
        ("-x", "there is no option -x"),
        ("vocab --out x text.txt", "there is no option --out; did you mean --output?"),  # options are written out
        ("vocab text.txt", "--output is missing, wanted a folder"),
        ("finetune run --lr 1e-5", "there is no option --lr; did you mean --learning-rate?"),
        ("finetune run -lr 1e-5", "there is no option -lr; did you mean --learning-rate?"),
        ("finetune run --batchsize=8", "there is no option --batchsize; did you mean --batch-size?"),
        ("pretrain run --steps 1e3", "--steps is '1e3', wanted a whole number"),
        ("pretrain run --warmup much", "--warmup is 'much', wanted a number"),
        ("embed folder --pooling poler", "--pooling is 'poler', wanted one of *, pooler*; did you mean pooler?"),
        ("embed folder --layer last", "--layer is 'last', wanted a whole number"),
        ("embed folder file another", "unexpected argument 'another'"),
        ("embed ''", "FOLDER is missing, wanted the name of a folder"),  # to the system it would be this folder
        ("embed folder ''", "FILE is missing, wanted the name of a file"),
        ("vocab '' --output folder", "FILE is missing, wanted the name of a file"),
        ("vocab file --output ''", "--output is missing, wanted the name of a folder"),
    ],
)
def test_arguments_that_are_not_understood(arguments, said, capsys, tmp_path, monkeypatch):
    """The command's own usage in a line, where there is more, and what was wrong, before anything is written."""
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(arguments)) == 2
    usage, more, error = capsys.readouterr().err.splitlines()
    prog = f"npbert {arguments.split()[0]}" if " " in arguments and "finetun " not in arguments else "npbert"
    assert usage.startswith(f"usage: {prog} ")
    assert usage.endswith(" [options]")
    assert more.strip() == f"{prog} --help says more"
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
    placed = [name for names in GROUPS.values() for name in names]
    known = {entry.name for kind in (PretrainSettings, FinetuneSettings) for entry in fields(kind)}
    assert sorted(placed) == sorted(known)


def test_version(capsys):
    assert main(["--version"]) == 0
    python = ".".join(map(str, sys.version_info[:3]))
    assert capsys.readouterr().out == f"npbert {__version__} (Python {python}, NumPy {np.__version__})\n"


class WrongLinear(Linear):
    """Its dx is doubled."""

    def backward(self, dy, tape):
        return 2 * super().backward(dy, tape)


@pytest.mark.parametrize("kind", [Linear, WrongLinear])
def test_gradcheck_has_a_line_for_each_block_and_a_status(kind, monkeypatch, capsys):
    def make(layer_class, seed):
        rng = np.random.default_rng(seed)
        return layer_class(3, 2, Init(rng, 1.0, np.float64)), (rng.normal(size=(4, 3)),), None

    blocks = {
        "the first": SimpleNamespace(make=partial(make, kind)),
        "the last": SimpleNamespace(make=partial(make, Linear)),
    }
    monkeypatch.setattr("npbert.cli.gradcheck.blocks", lambda _: blocks)
    is_wrong = kind is WrongLinear
    assert main(["gradcheck"]) == is_wrong
    out = capsys.readouterr().out
    proofs = re.findall("^the (?:first|last) +20 +(\\d+ ms|no) ", out, re.MULTILINE)
    assert [proof == "no" for proof in proofs] == [is_wrong, False], "what is wrong is not proved"
    verdict = (
        "FAIL: 40 derivatives, proved in 1 of 2 blocks" if is_wrong else "PASS: 40 derivatives, proved in every block"
    )
    assert out.splitlines()[-1].startswith(verdict)


def leaves(kind, words=()):
    """Each command with the words that call it: `plot` and `learn` have commands of their own."""
    for name, (place, *_) in kind.commands.items():
        module, _, class_name = place.partition(".")
        found = getattr(import_module(f"npbert.cli.{module}"), class_name)
        yield (*words, name), found
        yield from leaves(found, (*words, name))


LEAVES = {" ".join(words): (words, kind) for words, kind in leaves(NpbertCommand) if words != ("plot",)}


def given_to(entry):
    """Words that such an option, or such an argument, takes."""
    if entry.type.startswith("bool"):
        return [flag(entry)]
    wanted = entry.metadata["wanted"]
    values = [*getattr(wanted, "names", ()), *({"int": [2, 9], "float": [0.5]}.get(entry.type.split()[0], ["seed"]))]
    value = next(str(value) for value in values if wanted is None or wanted.holds(value))
    is_argument = "is_argument" in entry.metadata
    return [*([] if is_argument else [flag(entry)]), *[value] * (1 + entry.type.startswith("tuple"))]


@pytest.mark.parametrize(("name", "kind"), LEAVES.values(), ids=LEAVES)
def test_options_may_stand_anywhere(name, kind):
    entries = [entry for entry in kind.entries() if entry.name != "help"]
    arguments = [entry for entry in entries if "is_argument" in entry.metadata]
    places = [word for entry in arguments for word in given_to(entry)]
    is_clear = all(is_required(entry) and not entry.type.startswith("tuple") for entry in arguments)  # how many
    others = [entry for entry in entries if entry not in arguments]
    options = [given_to(each) for each in others if is_required(each) or is_clear or not each.type.startswith("tuple")]
    found = []
    for place in range(len(places) + 1):
        for turned in (options, options[::-1], sorted(options, key=len)):  # at last those with many values
            words = [*places[:place], *(word for option in turned for word in option), *places[place:]]
            found.append(values_of(words, kind))
    assert len(found[0]) == len(options) + len(arguments)
    assert all(other == found[0] for other in found)
