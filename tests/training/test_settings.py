"""Settings: in a file with comments, on the command line, and refused with a message that says what was wanted."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

import pytest

from npbert.cli.options import add_options, given_options, read_options
from npbert.files import FileError
from npbert.training.finetune import FinetuneSettings
from npbert.training.pretrain import PretrainSettings
from npbert.training.settings import SETTINGS_FILE, Settings, TrainerSettings, load_settings, save_settings
from npbert.training.tasks import TaskSettings

pytest.importorskip("tomlkit", reason="tomlkit is not installed: in npbert's folder, pip install '.[train]'")

PRETRAIN = {"corpus": ("a.txt", 'b "c".txt'), "vocabulary": "vöcab"}
FINETUNE = {"model": "m", "train": "t.tsv"}
NEEDED: dict[type[Settings], dict[str, Any]] = {PretrainSettings: PRETRAIN, FinetuneSettings: FINETUNE}
KINDS: dict[str, tuple[type[Settings], dict[str, Any]]] = {
    "trainer": (TrainerSettings, {"steps": 7, "learning_rate": 3e-05, "warmup": 0.25}),
    "task": (TaskSettings, {"choices": ("2", "3"), "task": "multiple-choice"}),
    "pretrain": (PretrainSettings, {**PRETRAIN, "document_per_file": True, "model": "C:\\models\\x"}),
    "finetune": (FinetuneSettings, {**FINETUNE, "label": "gold # label", "epochs": 2.5}),
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
        assert len(entry.metadata["help"]) > 10


def test_changes_over_the_file_over_the_defaults_which_are_the_papers(path):
    path.write_text("steps = 5 # few\nlearning_rate = 1\n\nparts = 2\n", encoding="utf-8")
    assert load_settings(TrainerSettings, path, parts=3) == TrainerSettings(steps=5, learning_rate=1, parts=3)
    pretrain, finetune = PretrainSettings(**PRETRAIN), FinetuneSettings(**FINETUNE)
    assert (pretrain.learning_rate, pretrain.mask_probability, pretrain.weight_decay) == (1e-4, 0.15, 0.01)
    assert (finetune.learning_rate, finetune.epochs, finetune.steps, finetune.batch_size) == (3e-5, 3, 0, 32)
    assert (pretrain.warmup, finetune.warmup, finetune.max_grad_norm) == (0.1, 0.1, 1)


LEAST = {"parts": 1, "save_every": 1, "log_every": 1, "steps": 0, "evaluate_every": 0, "patience": 0, "weight_decay": 0}
REFUSED = {
    **{f"{name} = {least - 1}": f"{name} is {least - 1}, wanted at least {least}" for name, least in LEAST.items()},
    "stesp = 5": "there is no setting stesp; there are evaluate_every, gradient_checkpointing, .*, steps, warmup, w",
    'steps = "5"': "steps is '5', wanted int",
    "steps = 5.0": r"steps is 5.0, wanted int",
    "steps = true": "steps is True, wanted int",
    "warmup = [0.1]": r"warmup is \[0.1\], wanted float",
    "[steps]\nx = 1": "steps is {'x': 1}, wanted int",
    "steps = 5\nparts = = 2": "is no valid TOML: .*line 2",
    "steps = 5\nsteps = 6": "is no valid TOML: .*steps",
    "weight_decay = nan": "weight_decay is nan, wanted at least 0",
    "warmup = 1.0": "warmup is 1.0, wanted a share from 0 up to, but not including, 1",
    "warmup = nan": "warmup is nan, wanted a share",
    "learning_rate = 0": "learning_rate is 0, wanted a positive number",
    "learning_rate = inf": "learning_rate is inf, wanted a positive number",
    "max_grad_norm = 0.0": "max_grad_norm is 0.0, wanted a positive number",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_wrong_file_is_refused_by_its_name(path, text, message):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message) as error:
        load_settings(TrainerSettings, path)
    assert str(error.value).startswith(str(path))


WRONG = [
    (PretrainSettings, {"corpus": ()}, "corpus is empty, wanted at least one file or folder"),
    (PretrainSettings, {"vocabulary": ""}, "vocabulary is empty, .*`npbert vocab` makes one"),
    (PretrainSettings, {"objective": "mlm"}, "objective is 'mlm', wanted one of nsp, sop, none"),
    (PretrainSettings, {"held_out_batches": 0}, "held_out_batches is 0, wanted at least 1"),
    (PretrainSettings, {"seed": -1}, "seed is -1, wanted at least 0"),
    (PretrainSettings, {"corpus": [1]}, r"corpus is \[1\], wanted tuple\[str, ...\]"),
    (PretrainSettings, {"corpus": "a.txt"}, r"corpus is 'a.txt', wanted tuple\[str, ...\]"),
    (PretrainSettings, {"whole_words": 1}, "whole_words is 1, wanted bool"),
    (FinetuneSettings, {"model": ""}, "model is empty, wanted a folder"),
    (FinetuneSettings, {"train": ""}, "train is empty, wanted a file"),
    (FinetuneSettings, {"epochs": 0.0}, "epochs is 0.0, wanted a positive number"),
    (FinetuneSettings, {"epochs": float("inf")}, "epochs is inf, wanted a positive number"),
    (FinetuneSettings, {"seed": -1}, "seed is -1, wanted at least 0"),
    (TaskSettings, {"max_length": 7}, "max_length is 7, wanted at least 8"),
    (TaskSettings, {"batch_size": 0}, "batch_size is 0, wanted at least 1"),
    (TaskSettings, {"text": 1}, "text is 1, wanted str"),
]


@pytest.mark.parametrize(("kind", "wrong", "message"), WRONG)
def test_a_wrong_value_is_refused_over_a_file_and_in_python(path, kind, wrong, message):
    good = NEEDED.get(kind, {})
    save_settings(kind(**good), path.parent)
    with pytest.raises(FileError, match=message):
        load_settings(kind, path, **wrong)
    with pytest.raises((TypeError, ValueError), match=message):
        kind(**{**good, **wrong})


def parse(kind: type[Settings], *arguments: str) -> Any:
    parser = argparse.ArgumentParser()
    add_options(parser, kind)
    return parser.parse_args(arguments)


@every_kind
def test_an_option_for_each_setting_with_its_default(kind, values, capsys):
    with pytest.raises(SystemExit):
        parse(kind, "--help")
    said = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    for entry in fields(kind):
        assert f"--{entry.name.replace('_', '-')}" in said
        default = "" if entry.default in ("", ()) else f" ({entry.default})"
        assert f"{' '.join(entry.metadata['help'].split())}{default}" in said
    arguments: list[str] = []
    for name, value in values.items():
        parts = [] if value is True else map(str, value) if isinstance(value, tuple) else [str(value)]
        arguments += [f"--{name.replace('_', '-')}", *parts]
    assert read_options(parse(kind, *arguments), kind) == kind(**values)


def test_options_over_the_file_over_the_defaults(path):
    save_settings(PretrainSettings(**PRETRAIN, steps=5, parts=2, whole_words=True, save_every=7), path.parent)
    options = "--parts 3 --no-whole-words --corpus x y --save-every 200"  # 200 is the default, and yet it is given
    args = parse(PretrainSettings, "--settings", str(path), *options.split())
    given = {"parts": 3, "whole_words": False, "corpus": ["x", "y"], "save_every": 200}
    assert given_options(args, PretrainSettings) == given
    wanted = PretrainSettings(corpus=("x", "y"), vocabulary="vöcab", steps=5, parts=3)
    assert read_options(args, PretrainSettings) == wanted


def test_a_wrong_option(capsys):
    with pytest.raises(ValueError, match="parts is 0, wanted at least 1"):
        read_options(parse(TrainerSettings, "--parts", "0"), TrainerSettings)
    with pytest.raises(SystemExit):
        parse(TrainerSettings, "--parts", "two")
    assert "argument --parts: invalid int value: 'two'" in capsys.readouterr().err
