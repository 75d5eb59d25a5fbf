"""A wrong value is said by the option's name before anything is read or written, and the status is 2."""

import re
import sys
from argparse import ArgumentParser

import pytest

from npbert.cli import main
from npbert.training.tasks import TASKS
from tests.cli.test_main import LEAVES, takes

VALUES = ("x", "", "nan", "1e999", "-999999999", "-1", "0", "2", "1.5", "9" * 20)


def kind_of(action):
    return getattr(action.type, "kind", action.type)


def all_of(command):
    """Arguments that name, wherever a file or a folder is wanted, one that is not there."""
    for action in command._actions:
        if action.required or action.metavar in ("FILE", "FOLDER", "MODEL"):
            yield from (*action.option_strings[:1], "gone")


def demo():
    """The parser of the demo, which is a program of its own."""
    seen = []
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(ArgumentParser, "parse_args", lambda self: seen.append(self) or sys.exit())
        main(["demo"])
    return seen[0]


COMMANDS = {" ".join(words): (words, command) for words, command in [*LEAVES.values(), (["demo"], demo())]}
OPTIONS = {
    f"{name} {action.option_strings[0]}": ([*words, *all_of(command)], action, name)
    for name, (words, command) in COMMANDS.items()
    for action in command._actions
    if action.option_strings and kind_of(action) in (int, float)
}


@pytest.mark.parametrize(("words", "action", "name"), OPTIONS.values(), ids=OPTIONS)
def test_a_wrong_number_is_said_first_of_all(words, action, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["npbert"])  # which the demo changes
    if name == "demo":  # where argparse alone tells what is a number
        words, wrong = ["demo"], ["x", "nan", "-1"]
    else:
        wrong = [value for value in VALUES if not takes(action, value)]
        counts_from_the_end = re.search("from (-1 at )?the end", action.help) is not None
        assert {"x", "", "nan", "1e999"} <= set(wrong) and ("-999999999" in wrong) != counts_from_the_end
    option = action.option_strings[0]
    for value in wrong:
        with pytest.raises(SystemExit) as ended:
            main([*words, option, value])
        *_, error = capsys.readouterr().err.splitlines()
        assert ended.value.code == 2
        assert re.match(rf"npbert {name}: error: (argument )?{option}[ :]", error), error
        assert not list(tmp_path.iterdir())


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
    f"{FINETUNE} --task chess": "--task is 'chess', wanted one of TASKS",
    f"{FINETUNE} --task swagg": "--task is 'swagg', wanted one of TASKS; did you mean swag?",
    f"{FINETUNE} --metric f2": "--metric is 'f2', wanted one of accuracy, macro_f1, matthews, f1, loss",
    f"{FINETUNE} --task ner --positive x": "--positive is 'x', wanted none: only a classification has one",
    f"{FINETUNE} --task swag --choices 2": "--choices has 1 columns, wanted at least 2",
    f"{FINETUNE} --task ner --text word": "--text is 'word', wanted a number: columns of words and tags have no names",
    f"{FINETUNE} --first-row names": "--first-row is 'names', wanted header or example",
    f"{FINETUNE} --delimiter ;": "--delimiter is ';', wanted tab or comma",
    "embed gone --pooling first": "--pooling is 'first', wanted one of mean, cls, max, mean_sqrt_len_tokens, pooler",
}


@pytest.mark.parametrize(("words", "said"), REFUSED.items())
def test_a_setting_that_cannot_be_is_said_first_of_all(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    said = said.replace("TASKS", ", ".join(TASKS))
    assert capsys.readouterr().err.splitlines()[-1] == f"npbert {words.split()[0]}: error: {said}"
    assert not list(tmp_path.iterdir())
