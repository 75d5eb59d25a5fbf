"""Fine-tuning: every setting arrives where it acts; and a finished model is judged by the labels that it knows."""

from dataclasses import replace

import numpy as np
import pytest

import npbert
from npbert import BertForSequenceClassification, Tokenizer
from npbert.io import METRICS_FILE, FileError, read_json_lines
from npbert.training import SETTINGS_FILE, FinetuneSettings, Finetuning, evaluate_files, load_settings
from npbert.training.tasks import TaskSettings
from tests.models.hugging_face.checkpoints import notes
from tests.training.tasks.tiny import tiny_config, tiny_tokenizer
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
    assert run.trainer.progress.total_steps == steps
    assert run.summary().splitlines()[-1] == f"{steps} step{'s' * (steps > 1)} of 5 examples"


def test_the_examples_and_the_metric_are_as_the_settings_say(make):
    run = make()
    assert (len(run.data.examples), len(run.held_out)) == (24, 7)
    files = [f"training file {run.settings.train}", f"held-out file {run.settings.held_out}"]
    assert [*run.trainer.evaluation.inputs] == [*files, "vocabulary", "labels"]
    assert [len(batch.input_ids) for _, batch in run.data.batches(0)] == [5, 5, 5, 5, 4]
    assert make(max_length=0).trainer.settings.max_length == 32, "the model's limit"
    assert run.trainer.evaluation.goal == "accuracy"
    assert make(metric="matthews").trainer.evaluation.goal == "matthews"


@pytest.mark.filterwarnings("ignore:.* has .* rows of")
def test_f1_needs_a_label_that_it_is_about(make, tmp_path):
    (tmp_path / "three.tsv").write_text("a cat .\tx\na dog .\ty\na cow .\tz\n" * 5, encoding="utf-8")
    options = {"train": str(tmp_path / "three.tsv"), "held_out": str(tmp_path / "three.tsv"), "new_head": True}
    with pytest.raises(ValueError, match="metric is 'f1', wanted another for 3 labels; positive names the label of f1"):
        make(**options, metric="f1")
    assert "f1" in make(**options, metric="f1", positive="y").trainer.train()


def test_the_head_is_old_unless_it_is_to_be_new(make):
    stored = BertForSequenceClassification.from_pretrained(make().settings.model)
    with notes() as said:
        assert_same(values(make().model), values(stored))
        assert not said
        new, other = make(new_head=True).model, make(new_head=True, seed=1).model
    wanted = "the head is new and needs training: classifier.weight, classifier.bias"
    assert [note.partition(" (")[0] for note in said] == [wanted] * 2
    assert_same(values(new.bert), values(stored.bert))
    wanted = np.random.default_rng(0).normal(0.0, 0.2, (8, 2))
    np.testing.assert_allclose(new.classifier.weight.value, wanted, rtol=1e-6)
    assert (other.classifier.weight.value != new.classifier.weight.value).any()


def test_a_run_is_judged_along_the_way_and_keeps_its_settings_and_the_best_model_with_its_tokenizer(make, tmp_path):
    """24 examples in 5 steps, and 7 to judge by: half a step for each time."""
    run = make()
    assert "dev.tsv: 7 examples, for an evaluation every 2 steps" in run.summary()
    numbers = run.trainer.train()
    rows = read_json_lines(tmp_path / "run" / METRICS_FILE)
    assert [row["step"] for row in rows if "eval_loss" in row] == [2, 4, 5]
    assert run.settings.evaluate_every == -1, "which goes into the settings as it was given"
    assert load_settings(FinetuneSettings, tmp_path / "run" / SETTINGS_FILE) == run.settings
    kept = str(tmp_path / "run" / "model")
    best = make("again", model=kept)
    assert best.evaluate() == numbers
    assert best.model.config.id2label == ("no", "yes")
    for read in (BertForSequenceClassification, npbert.Embed):
        assert read.from_pretrained(tmp_path / "run"), "the folder of a run stands for its model"
    assert (Tokenizer.from_pretrained(kept).max_length, run.tokenizer.max_length) == (20, None)
    assert make("last", held_out="", steps=2).trainer.train() == {}, "there is nothing to judge it by"


@pytest.mark.parametrize(
    ("names", "unknown"), [(("good", "bad"), "fair"), (("fair", "good", "bad"), "1"), (None, "2"), (None, "LABEL_1")]
)
def test_labels_by_name_in_the_order_of_the_checkpoint_or_by_number(tmp_path, names, unknown):
    """The model says "good", or 1, each time."""
    good, bad = ("good", "bad") if names else ("1", "0")
    count, file = len(names or "01"), tmp_path / "a.tsv"
    model = BertForSequenceClassification(tiny_config(num_labels=count, id2label=names), rng=np.random.default_rng(0))
    model.classifier.bias.value[names.index("good") if names else 1] = 100
    model.save_pretrained(tmp_path / "model")
    tiny_tokenizer().save_pretrained(tmp_path / "model")
    file.write_text(f"a b\t{good}\nc\t{bad}\nd\t{good}\ne f\t{good}\n")
    ((_, metrics, *_),) = evaluate_files(tmp_path / "model", [str(file)], TaskSettings(max_length=32))
    assert metrics["accuracy"] == 0.75 and ("f1" in metrics) == (count == 2)
    file.write_text(f"{file.read_text()}f\t{unknown}\n")
    known = ", ".join(map(repr, names or "01"))
    with pytest.raises(FileError, match=rf"a\.tsv, line 5: the label is '{unknown}', wanted one of the .*: {known}"):
        evaluate_files(tmp_path / "model", [str(file)], TaskSettings(max_length=32))
