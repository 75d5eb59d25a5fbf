"""Settings: in a file with comments, on the command line, and refused with a message that says what was wanted."""

import re
from dataclasses import fields

import pytest

from npbert.cli.command import values_of
from npbert.cli.training import PretrainCommand, SettingsCommand
from npbert.io.files import FileError
from npbert.training import SETTINGS_FILE, FinetuneSettings, PretrainSettings, TrainerSettings, load_settings
from npbert.training.settings import save_settings

pytest.importorskip("tomlkit", reason="tomlkit is not installed: pip install -e '.[train]'")

PRETRAIN = {"corpus": ("a.txt", 'b "c".txt'), "vocabulary": "vöcab"}
FINETUNE = {"model": "m", "train": "t.tsv"}
KINDS = {
    "pretrain": (PretrainSettings, {**PRETRAIN, "document_per_file": True, "model": "C:\\models\\x"}),
    "finetune": (FinetuneSettings, {**FINETUNE, "label": "gold # label", "epochs": 2.5, "warmup": 3e-05}),
}
every_kind = pytest.mark.parametrize(("kind", "values"), KINDS.values(), ids=KINDS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / SETTINGS_FILE


@every_kind
def test_a_file_holds_each_setting_with_a_comment_above_it(path, kind, values):
    save_settings(kind(**values), path.parent)
    assert load_settings(kind, path) == kind(**values)
    assert [file.name for file in path.parent.iterdir()] == [SETTINGS_FILE]
    lines = path.read_text(encoding="utf-8").splitlines()
    for entry in fields(kind):
        place = next(index for index, line in enumerate(lines) if line.startswith(f"{entry.name} ="))
        assert lines[place - 1] == f"# {entry.metadata['help']}"


WRONG_FILES = {
    "stesp = 5": r"unknown setting stesp; did you mean steps\?$",
    "warmup = [0.1]": r"warmup is \[0.1\], wanted float",
    "steps = 5\nparts = = 2": "is not valid TOML: .*line 2",
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.items())
def test_a_wrong_file_is_refused_by_its_name(path, text, message):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message) as error:
        load_settings(TrainerSettings, path)
    assert str(error.value).startswith(str(path))


WRONG = {  # by the type of a setting, what it is never
    "int": ["5", 5.0, True, -9],
    "float": ["5", True, -9.0, float("inf"), float("nan")],
    "bool": [0, "yes"],
    "str": [1],
    "tuple[str, ...]": ["a.txt", [1]],
}
CHOSEN = {"first_row": "names", "delimiter": ";", "objective": "mlm"}
LEAST = {"corpus": (), "vocabulary": "", "train": "", "save_every": 0, "max_length": 7, "warmup": 1.0, "epochs": 0.0}


@every_kind
def test_a_wrong_value_is_refused_over_a_file_and_in_python(path, kind, values):
    """By its name, and with what is wanted, which the field says."""
    save_settings(kind(**values), path.parent)
    for entry in fields(kind):
        more = [{**CHOSEN, **LEAST}[entry.name]] if entry.name in {**CHOSEN, **LEAST} else []
        for value in [*WRONG[str(entry.type)], *more]:
            wanted = "|".join(map(re.escape, [str(entry.type), entry.metadata["wanted"].words]))
            message = rf"{entry.name} is .*, wanted ({wanted}|one of)"
            with pytest.raises(FileError, match=message):
                load_settings(kind, path, **{entry.name: value})
            with pytest.raises((TypeError, ValueError), match=message):
                kind(**{**values, entry.name: value})


def test_options_over_the_file_over_the_defaults(path):
    save_settings(PretrainSettings(**PRETRAIN, steps=5, parts=2, whole_words=True, save_every=7), path.parent)
    options = "--parts 3 --no-whole-words --corpus x y --save-every 200"  # 200 is the default, and yet it is given
    given = values_of(["run", *options.split()], PretrainCommand)
    assert given.pop("folder") == "run"
    assert given == {"parts": 3, "whole_words": False, "corpus": ("x", "y"), "save_every": 200}
    command = PretrainCommand(folder="run", settings=str(path), given=given)
    wanted = PretrainSettings(corpus=("x", "y"), vocabulary="vöcab", steps=5, parts=3)
    assert SettingsCommand.read_settings(command) == wanted


@pytest.mark.parametrize(
    ("wanted", "steps", "cost", "interval"),
    [
        (0, 100, 1, 100),
        (7, 100, 27, 7),
        (-1, 105, 0, 11),  # ten times
        (-1, 1000, 150, 200),  # at the most a quarter is 5
        (-1, 1000, 2700, 334),  # and yet three
        (-1, 2, 2700, 1),
    ],
)
def test_how_often_a_run_is_judged(wanted, steps, cost, interval):
    assert TrainerSettings(evaluate_every=wanted).interval(steps, cost) == interval
