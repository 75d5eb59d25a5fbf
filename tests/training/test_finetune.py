"""Fine-tuning: every setting arrives where it acts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Tokenizer
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.trainer import Goal
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
    assert run.summary().splitlines()[-1] == f"{steps} steps of 5 examples"


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
    with pytest.raises(ValueError, match="metric is 'f2', wanted one of accuracy, macro_f1, matthews, f1"):
        make(metric="f2")


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


def test_a_run_keeps_its_settings_and_the_best_model_with_its_tokenizer(make, tmp_path):
    run = make(evaluate_every=1)
    numbers = run.trainer.train()
    assert load_settings(FinetuneSettings, tmp_path / "run" / SETTINGS_FILE) == run.settings
    kept = str(tmp_path / "run" / "model")
    best = make("again", model=kept)
    assert best.evaluate() == numbers
    assert best.model.config.id2label == ("no", "yes")
    assert len(Tokenizer.from_pretrained(kept)) == 30
    assert make("last", held_out="", steps=2).trainer.train() == {}, "there is nothing to judge it by"
