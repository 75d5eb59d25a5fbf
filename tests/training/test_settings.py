"""Settings: in a file with comments, on the command line, and refused with a message that says what was wanted."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, fields
from typing import Any

import pytest

from npbert.cli.options import add_options, given_options, read_options
from npbert.files import FileError
from npbert.training.finetune import FinetuneSettings
from npbert.training.pretrain import PretrainSettings
from npbert.training.settings import SETTINGS_FILE, Settings, TrainerSettings, load_settings, save_settings
from npbert.training.tasks import TaskSettings

PRETRAIN = {"corpus": ("a.txt", 'b "c".txt'), "vocabulary": "vöcab"}
FINETUNE = {"model": "m", "train": "t.tsv"}
KINDS: dict[str, tuple[type[Settings], dict[str, Any]]] = {
    "trainer": (TrainerSettings, {"steps": 7, "learning_rate": 3e-05, "warmup": 0.25}),
    "task": (TaskSettings, {"choices": ("2", "3"), "task": "multiple-choice"}),
    "pretrain": (PretrainSettings, {**PRETRAIN, "document_per_file": True, "model": "C:\\models\\x"}),
    "finetune": (FinetuneSettings, {**FINETUNE, "label": "gold # label", "epochs": 2.5}),
}
every_kind = pytest.mark.parametrize(("kind", "values"), KINDS.values(), ids=KINDS)


@every_kind
def test_there_and_back(tmp_path, kind, values):
    settings = kind(**values)
    save_settings(settings, tmp_path)
    assert load_settings(kind, tmp_path / SETTINGS_FILE) == settings
    assert [file.name for file in tmp_path.iterdir()] == [SETTINGS_FILE]


@every_kind
def test_each_setting_has_a_comment_above_it(tmp_path, kind, values):
    save_settings(kind(**values), tmp_path)
    lines = (tmp_path / SETTINGS_FILE).read_text(encoding="utf-8").splitlines()
    for entry in fields(kind):
        place = next(index for index, line in enumerate(lines) if line.startswith(f"{entry.name} ="))
        assert lines[place - 1] == f"# {entry.metadata['help']}"
        assert len(entry.metadata["help"]) > 10


def write(folder: Any, text: str) -> Any:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_over_the_defaults_and_changes_over_the_file(tmp_path):
    path = write(tmp_path, "steps = 5 # few\nlearning_rate = 1\n\nparts = 2\n")
    settings = load_settings(TrainerSettings, path, parts=3)
    assert settings == TrainerSettings(steps=5, learning_rate=1, parts=3)
    assert settings.log_every == 10


REFUSED = {
    "unknown": (
        "stesp = 5",
        "there is no setting stesp; there are evaluate_every, gradient_checkpointing, .*, steps, warmup, w",
    ),
    "text for a number": ('steps = "5"', "steps is '5', wanted int"),
    "a float for an integer": ("steps = 5.0", r"steps is 5.0, wanted int"),
    "a bool for a number": ("steps = true", "steps is True, wanted int"),
    "a list for a number": ("warmup = [0.1]", r"warmup is \[0.1\], wanted float"),
    "a table": ("[steps]\nx = 1", "steps is {'x': 1}, wanted int"),
    "bad TOML": ("steps = 5\nparts = = 2", "is no valid TOML: .*line 2"),
    "twice": ("steps = 5\nsteps = 6", "is no valid TOML: .*steps"),
    "negative steps": ("steps = -1", "steps is -1, wanted at least 0"),
    "no parts": ("parts = 0", "parts is 0, wanted at least 1"),
    "save never": ("save_every = 0", "save_every is 0, wanted at least 1"),
    "log never": ("log_every = 0", "log_every is 0, wanted at least 1"),
    "negative patience": ("patience = -1", "patience is -1, wanted at least 0"),
    "negative evaluation": ("evaluate_every = -2", "evaluate_every is -2, wanted at least 0"),
    "negative decay": ("weight_decay = -0.1", "weight_decay is -0.1, wanted at least 0"),
    "decay no number": ("weight_decay = nan", "weight_decay is nan, wanted at least 0"),
    "all warm-up": ("warmup = 1.0", "warmup is 1.0, wanted a share from 0 up to, but not including, 1"),
    "warm-up no number": ("warmup = nan", "warmup is nan, wanted a share"),
    "no learning rate": ("learning_rate = 0", "learning_rate is 0, wanted a positive number"),
    "endless learning rate": ("learning_rate = inf", "learning_rate is inf, wanted a positive number"),
    "no norm": ("max_grad_norm = 0.0", "max_grad_norm is 0.0, wanted a positive number"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_name_of_the_file(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(FileError, match=message) as error:
        load_settings(TrainerSettings, path)
    assert str(error.value).startswith(str(path))


OTHERS = {
    "no corpus": (PretrainSettings, {"corpus": ()}, "corpus is empty, wanted at least one file or folder"),
    "no vocabulary": (PretrainSettings, {"vocabulary": ""}, "vocabulary is empty, .*`npbert vocab` makes one"),
    "objective": (PretrainSettings, {"objective": "mlm"}, "objective is 'mlm', wanted one of nsp, sop, none"),
    "held-out batches": (PretrainSettings, {"held_out_batches": 0}, "held_out_batches is 0, wanted at least 1"),
    "seed": (PretrainSettings, {"seed": -1}, "seed is -1, wanted at least 0"),
    "a path that is a number": (PretrainSettings, {"corpus": [1]}, r"corpus is \[1\], wanted tuple\[str, ...\]"),
    "a path for paths": (PretrainSettings, {"corpus": "a.txt"}, r"corpus is 'a.txt', wanted tuple\[str, ...\]"),
    "a number for a bool": (PretrainSettings, {"whole_words": 1}, "whole_words is 1, wanted bool"),
    "no model": (FinetuneSettings, {"model": ""}, "model is empty, wanted a folder"),
    "no file": (FinetuneSettings, {"train": ""}, "train is empty, wanted a file"),
    "no epochs": (FinetuneSettings, {"epochs": 0.0}, "epochs is 0.0, wanted a positive number"),
    "endless epochs": (FinetuneSettings, {"epochs": float("inf")}, "epochs is inf, wanted a positive number"),
    "a seed of a run": (FinetuneSettings, {"seed": -1}, "seed is -1, wanted at least 0"),
    "too short": (FinetuneSettings, {"max_length": 7}, "max_length is 7, wanted at least 8"),
    "empty batches": (TaskSettings, {"batch_size": 0}, "batch_size is 0, wanted at least 1"),
}


@pytest.mark.parametrize(("kind", "wrong", "message"), OTHERS.values(), ids=OTHERS)
def test_refused_in_other_settings(tmp_path, kind, wrong, message):
    good = {PretrainSettings: PRETRAIN, FinetuneSettings: FINETUNE, TaskSettings: {}}[kind]
    save_settings(kind(**good), tmp_path)
    with pytest.raises(FileError, match=message):
        load_settings(kind, tmp_path / SETTINGS_FILE, **wrong)


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (TaskSettings, {"text": 1}, "text is 1, wanted str"),
        (TrainerSettings, {"steps": 2.5}, "steps is 2.5, wanted int"),
        (PretrainSettings, {"corpus": "a.txt", "vocabulary": "v"}, r"corpus is 'a.txt', wanted tuple\[str, ...\]"),
    ],
)
def test_refused_in_python_too(kind, wrong, message):
    with pytest.raises(TypeError, match=message):
        kind(**wrong)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_settings(TrainerSettings, tmp_path / SETTINGS_FILE)


def parse(kind: type[Settings], *arguments: str) -> Any:
    parser = argparse.ArgumentParser()
    add_options(parser, kind)
    return parser.parse_args(arguments)


@every_kind
def test_an_option_for_each_setting_with_its_default(kind, values, capsys):
    with pytest.raises(SystemExit):
        parse(kind, "--help")
    said = " ".join(capsys.readouterr().out.split())
    for entry in fields(kind):
        option = f"--{entry.name.replace('_', '-')}"
        assert option in said
        default = "" if entry.default in ("", ()) else f" ({entry.default})"
        assert f"{' '.join(entry.metadata['help'].split())}{default}" in said.replace("- ", "-"), option


@every_kind
def test_options_are_the_settings(kind, values):
    arguments: list[str] = []
    for name, value in values.items():
        option = f"--{name.replace('_', '-')}"
        parts = [] if value is True else map(str, value) if isinstance(value, tuple) else [str(value)]
        arguments += [option, *parts]
    args = parse(kind, *arguments)
    assert {name: tuple(v) if isinstance(v, list) else v for name, v in given_options(args, kind).items()} == values
    assert read_options(args, kind) == kind(**values)


def test_options_over_the_file_over_the_defaults(tmp_path):
    save_settings(PretrainSettings(**PRETRAIN, steps=5, parts=2, whole_words=True), tmp_path)
    file = str(tmp_path / SETTINGS_FILE)
    args = parse(PretrainSettings, "--parts", "3", "--settings", file, "--no-whole-words", "--corpus", "x", "y")
    assert given_options(args, PretrainSettings) == {"parts": 3, "whole_words": False, "corpus": ["x", "y"]}
    wanted = PretrainSettings(corpus=("x", "y"), vocabulary="vöcab", steps=5, parts=3)
    assert read_options(args, PretrainSettings) == wanted


def test_an_option_that_is_its_default_is_over_the_file_too(tmp_path):
    path = write(tmp_path, "steps = 5\n")
    assert (
        read_options(parse(TrainerSettings, "--settings", str(path), "--steps", "1000"), TrainerSettings).steps == 1000
    )


def test_a_wrong_option(capsys):
    with pytest.raises(ValueError, match="parts is 0, wanted at least 1"):
        read_options(parse(TrainerSettings, "--parts", "0"), TrainerSettings)
    with pytest.raises(SystemExit):
        parse(TrainerSettings, "--parts", "two")
    assert "argument --parts: invalid int value: 'two'" in capsys.readouterr().err


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(ImportError, match=r"tomlkit, which is not installed: .* pip install '.\[train\]'"):
        save_settings(TrainerSettings(), tmp_path)
    with pytest.raises(ImportError, match=r"pip install '.\[train\]'"):
        load_settings(TrainerSettings, write(tmp_path, "steps = 5"))


def test_the_defaults_are_possible():
    assert asdict(TrainerSettings())["steps"] == 1000
    assert PretrainSettings(**PRETRAIN).learning_rate == 1e-4
    assert FinetuneSettings(**FINETUNE).learning_rate == 3e-5
    assert FinetuneSettings(**FINETUNE).steps == 0
