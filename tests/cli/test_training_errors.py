"""What can go wrong with training: always one line that says what and where, never a traceback."""

import re
from pathlib import Path

import pytest

from npbert.cli import main
from npbert.io.files import HOW_TO_DOWNLOAD
from tests.cli.conftest import error_in

SMALL = "--max-length 20 --batch-size 4 --steps 4 --log-every 1"
FILES = {
    "zebras.txt": "zebras graze\n\nzebras run\n",
    "typo.toml": "stesp = 3",
    "named.tsv": "words\tgold\n" + "a\tyes\nb\tno\n" * 2,
}
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint {SMALL}"
FINETUNE = f"finetune run --model checkpoint --train train.tsv --held-out dev.tsv {SMALL}"


@pytest.fixture(autouse=True)
def wrong_files(here):
    Path("folder").mkdir()
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="utf-8")


@pytest.fixture
def error_of(npbert):
    """error_of(command) -> what the only line on standard error says, after its beginning."""

    def error_of(command):
        status, out, err = npbert(*command.split())
        assert b"after 4 steps" not in out
        lines = [line for line in err.splitlines(keepends=True) if "the head is new" not in line]
        assert status == len(lines[:2]), "2 where an option is wrong, after the usage"
        return error_in("".join(lines))

    return error_of


NO_FOLDER = f"is not a checkpoint: it does not exist ({HOW_TO_DOWNLOAD})"
NAMES = "if this row has the names of the columns, give --first-row header; if "
NAMES += "it is an example, --first-row example"
NOT_FINITE = "step 2: the loss is nan and the norm of the gradient nan; *; try a smaller learning rate"

WRONG_PRETRAIN = {  # an option that is given twice counts the second time; `*` stands for anything
    "--corpus gone.txt": "gone.txt: No such file or directory",
    "--corpus zebras.txt": "the training data has no batches",
    "--learning-rate 1e30": NOT_FINITE,
}
WRONG_FINETUNE = {
    "--train named.tsv": f"named.tsv, line 1: no other row has the label 'gold'; {NAMES}",
    "--held-out gone.tsv --train also-gone.tsv": "also-gone.tsv: No such file or directory",
}
WRONG = {
    **{f"{PRETRAIN} {options}": message for options, message in WRONG_PRETRAIN.items()},
    **{f"{FINETUNE} {options}": message for options, message in WRONG_FINETUNE.items()},
    "pretrain gone --resume": "gone has no run of npbert pretrain to continue",
    "evaluate gone dev.tsv": f"gone {NO_FOLDER}",
    "evaluate checkpoint dev.tsv": "checkpoint has a pre-trained BERT *, wanted a text *",
}


def check(said, message):
    assert re.fullmatch(".*".join(map(re.escape, message.split("*"))), said), said


@pytest.mark.parametrize(("command", "message"), WRONG.items())
def test_one_line_says_what_is_wrong(command, message, error_of):
    check(error_of(command), message)
    has_begun = message.startswith(("step ", "the training"))
    assert Path("run").exists() == has_begun, "no folder is left of a run that did not begin"


def test_a_folder_that_holds_a_run(error_of):
    assert main(PRETRAIN.replace("run", "it's", 1).split()) == 0
    before = {file: file.read_bytes() for file in Path("it's").rglob("*") if file.is_file()}
    for given, wanted in {
        "pretrain it's --seed 1": "it's already has a run; continue it with --resume, or choose another folder",
        "finetune it's --resume": "it's has no run of npbert finetune to continue",
        "pretrain it's --resume --seed 9": "it's has a run with other settings, seed was 0 and is 9; *",
        "pretrain it's --resume --settings typo.toml": "--settings is not for a run: it's has its own settings",
        "evaluate it's a --settings typo.toml": "--settings is not for a run: it's has its own settings",
        "evaluate it's a --text-pair 1": "--text-pair is for a labelled file, and it's holds a pre-trained model",
    }.items():
        check(error_of(given), wanted)
    assert {file: file.read_bytes() for file in Path("it's").rglob("*") if file.is_file()} == before


def test_a_vocabulary_that_does_not_fit_the_model(error_of):
    """It is noticed before the first step, and not by whoever uses the model later."""
    vocabulary = Path("checkpoint", "vocab.txt")
    vocabulary.write_text(vocabulary.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    wanted = "checkpoint: the tokenizer has 31 tokens, wanted 30, the vocab_size in its config.json"
    check(error_of(PRETRAIN), wanted)
    check(error_of(FINETUNE), wanted)
