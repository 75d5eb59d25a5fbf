"""A wrong value is said by the option's name before anything is read or written, and the status is 2."""

import re

import pytest

from npbert.cli import main
from npbert.cli.command import flag, is_required
from npbert.training.tasks import TASKS
from tests.cli.test_main import LEAVES

VALUES = ("-999999999", "x", "", "nan", "1e999")


def all_of(kind):
    """Words that name, wherever a file or a folder is wanted, one that is not there."""
    for entry in kind.entries():
        if is_required(entry) or entry.metadata["value"] in ("FILE", "FOLDER", "MODEL"):
            yield from (*(() if "is_argument" in entry.metadata else (flag(entry),)), "gone")


OPTIONS = {
    f"{name} {flag(entry)}": ([*words, *all_of(kind)], entry, name)
    for name, (words, kind) in LEAVES.items()
    for entry in kind.entries()
    if entry.type.startswith(("int", "float")) and "is_argument" not in entry.metadata
}


@pytest.mark.parametrize(("words", "entry", "name"), OPTIONS.values(), ids=OPTIONS)
def test_a_wrong_number_is_said_first_of_all(words, entry, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts_from_the_end = re.search("from (-1 at )?the end", entry.metadata["help"]) is not None
    for value in VALUES[counts_from_the_end:]:
        assert main([*words, flag(entry), value]) == 2
        *_, error = capsys.readouterr().err.splitlines()
        assert re.match(rf"npbert {name}: error: {flag(entry)} ", error), error
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
    f"{FINETUNE} --delimiter :": "--delimiter is ':', wanted one of tab, comma, semicolon",
    "embed gone --pooling first": "--pooling is 'first', wanted one of mean, cls, max, mean_sqrt_len_tokens, pooler",
}


@pytest.mark.parametrize(("words", "said"), REFUSED.items())
def test_a_setting_that_cannot_be_is_said_first_of_all(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    said = said.replace("TASKS", ", ".join(TASKS))
    assert capsys.readouterr().err.splitlines()[-1] == f"npbert {words.split()[0]}: error: {said}"
    assert not list(tmp_path.iterdir())
