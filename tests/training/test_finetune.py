"""Fine-tuning: every setting arrives where it acts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Classify, Tokenizer
from npbert.files import FileError
from npbert.rows import METRICS_FILE, SHOWN_FILE, read_rows
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.goal import Goal
from npbert.training.settings import SETTINGS_FILE, load_settings
from tests.training.tiny import assert_same, values, write_checkpoint, write_labelled


@pytest.fixture
def make(tmp_path):
    """A run on 24 examples, from a checkpoint that has a classifier."""
    settings = FinetuneSettings(
        model=str(write_checkpoint(tmp_path / "checkpoint", BertForSequenceClassification, id2label=("no", "yes"))),
        train=str(write_labelled(tmp_path / "train.tsv")),
        held_out=str(write_labelled(tmp_path / "dev.tsv", rows=7, seed=1)),
        max_length=20,
        batch_size=5,
        epochs=1,
        learning_rate=0.02,
    )
    return lambda folder="run", **changes: Finetuning(replace(settings, **changes), tmp_path / folder)


@pytest.mark.parametrize(
    ("changes", "steps"), [({}, 5), ({"epochs": 1.8}, 9), ({"epochs": 0.01}, 1), ({"epochs": 9, "steps": 3}, 3)]
)
def test_epochs_or_steps_say_how_long_it_is(make, changes, steps):
    run = make(**changes)
    assert run.trainer.settings.steps == steps
    assert run.summary().splitlines()[-1] == f"{steps} step{'s' * (steps > 1)} of 5 examples"


def test_the_examples_and_the_metric_are_as_the_settings_say(make):
    run = make()
    assert (len(run.data.examples), len(run.held_out)) == (24, 7)
    assert run.trainer.progress.epoch_seed == np.random.default_rng(0).integers(2**63)
    assert [len(batch.input_ids) for _, batch in run.data.batches(0)] == [5, 5, 5, 5, 4]
    with pytest.warns(UserWarning, match=r"train\.tsv: 24 of 24 texts cut to 8 tokens"):
        cut = make(max_length=8, held_out="").data.examples[0].encoding
    assert cut.tokens == [*run.data.examples[0].encoding.tokens[:7], "[SEP]"]
    assert run.trainer.goal == Goal("accuracy")
    assert make(metric="matthews").trainer.goal == Goal("matthews")
    with pytest.raises(ValueError, match="metric is 'f2', wanted one of accuracy, macro_f1, matthews, f1, loss"):
        make(metric="f2")


def test_f1_needs_a_label_that_it_is_about(make, tmp_path):
    (tmp_path / "three.tsv").write_text("a cat .\tx\na dog .\ty\na cow .\tz\n" * 5, encoding="utf-8")
    options = {"train": str(tmp_path / "three.tsv"), "held_out": str(tmp_path / "three.tsv"), "new_head": True}
    with pytest.raises(ValueError, match="metric is 'f1', but there are 3 labels, and positive is none"):
        make(**options, metric="f1")
    with pytest.warns(UserWarning, match="but new: classifier"):
        numbers = make(**options, metric="f1", positive="y").trainer.train()
    assert "f1" in numbers


def test_the_head_is_old_unless_it_is_to_be_new(make):
    stored = BertForSequenceClassification.from_pretrained(make().settings.model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(values(make().model), values(stored))
    with pytest.warns(UserWarning, match="but new: classifier.weight, classifier.bias"):
        new, other = make(new_head=True).model, make(new_head=True, seed=1).model
    assert_same(values(new.bert), values(stored.bert))
    wanted = np.random.default_rng(0).normal(0.0, 0.2, (8, 2))
    np.testing.assert_allclose(new.classifier.weight.value, wanted, rtol=1e-6)
    assert (other.classifier.weight.value != new.classifier.weight.value).any()


def test_the_model_is_saved_with_the_length_that_it_was_trained_at(make, tmp_path):
    run = make(steps=1)
    assert run.tokenizer.max_length == 20
    run.trainer.train()
    assert Classify.from_pretrained(tmp_path / "run" / "model").max_length == 20
    again = make("again", model=str(tmp_path / "run" / "model"), max_length=10)
    assert again.tokenizer.max_length == 10


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["yes", "yes", "yes"], r"train\.tsv: all labels are 'yes', so there is nothing to learn"),
        (["yes", "no", " "], r"train\.tsv, line 3: the label is empty"),
        (["yes", "no", "yes "], r"train\.tsv: the labels 'yes', 'yes ' are the same but for white space"),
        (["a b", "no", "a\u00a0b"], r"the same but for white space"),
    ],
)
def test_labels_that_tell_nothing_apart_are_refused(make, tmp_path, labels, message):
    make()
    (tmp_path / "train.tsv").write_text("".join(f"the good cat\t{label}\n" for label in labels), encoding="utf-8")
    with pytest.raises(FileError, match=message):
        make()


@pytest.mark.parametrize("gone", ["train", "held_out"])
def test_a_file_that_is_not_there_is_missed_before_anything_is_read(make, monkeypatch, gone):
    monkeypatch.setattr(Tokenizer, "from_pretrained", lambda *_: pytest.fail("a file was read"))
    with pytest.raises(FileNotFoundError, match=r"gone\.tsv"):
        make(**{gone: "gone.tsv"})


def test_a_column_may_have_another_name_in_the_held_out_file(make, tmp_path):
    for name, column in (("train", "sentence"), ("dev", "content")):
        path = tmp_path / f"{name}.tsv"
        path.write_text(f"{column}\tlabel\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    run = make(text="sentence,content", label="label")
    assert (len(run.data.examples), len(run.held_out)) == (24, 7)


def test_by_default_it_is_judged_along_the_way_and_the_curve_has_points(make, tmp_path):
    """24 examples in 5 steps, and 7 to judge by: half a step for each time."""
    run = make()
    assert "dev.tsv: 7 examples, to judge the model by every 2 steps (which takes about 28% more time)" in run.summary()
    run.trainer.train()
    rows = read_rows(tmp_path / "run" / METRICS_FILE)
    assert [row["step"] for row in rows if "eval_loss" in row] == [2, 4, 5]
    assert run.settings.evaluate_every == -1, "which goes into the settings as it was given"
    assert make("end", evaluate_every=0).summary().count("to judge the model by at the end") == 1


def test_the_loss_may_say_which_model_is_best(make, tmp_path):
    run = make(metric="loss", evaluate_every=1, epochs=3)
    numbers = run.trainer.train()
    losses = [row["eval_loss"] for row in read_rows(tmp_path / "run" / METRICS_FILE) if "eval_loss" in row]
    assert numbers["loss"] == min(losses) < max(losses)
    shown = read_rows(tmp_path / "run" / SHOWN_FILE)
    assert [row["best_step"] for row in shown] == [np.argmin(losses[:step]) + 1 for step in range(1, len(losses) + 1)]
    assert all(row["baselines"] == run.baselines for row in shown)
    assert "loss" in run.baselines


def test_a_run_keeps_its_settings_and_the_best_model_with_its_tokenizer(make, tmp_path):
    run = make(evaluate_every=1)
    numbers = run.trainer.train()
    assert load_settings(FinetuneSettings, tmp_path / "run" / SETTINGS_FILE) == replace(run.settings, parts=1)
    kept = str(tmp_path / "run" / "model")
    best = make("again", model=kept)
    assert best.evaluate() == numbers
    assert best.model.config.id2label == ("no", "yes")
    assert len(Tokenizer.from_pretrained(kept)) == 30
    assert make("last", held_out="", steps=2).trainer.train() == {}, "there is nothing to judge it by"
