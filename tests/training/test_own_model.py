"""A model of one's own in the Trainer: it is trained, saved, stopped and resumed as npbert's are."""

from unittest.mock import Mock

import numpy as np
import pytest

from npbert import Batch, BertForSequenceClassification, Init, Pooler
from npbert.training.judge import Goal
from npbert.training.state import MODEL_FOLDER
from tests.models.own import NoBert, Score, TwoTower
from tests.training.tiny import TINY, examples, make_trainer, results, task_data, values

SETTINGS = {"steps": 8, "save_every": 3, "evaluate_every": 4, "parts": 2, "gradient_checkpointing": True}


def pairs(rows):
    """A sequence and itself without its last token; the label is a number."""
    ids = np.array([[ids, ids] for ids, _ in rows])
    mask = np.ones_like(ids)
    mask[:, 1, -1] = 0
    return Batch(ids, attention_mask=mask, labels=np.array([label + 0.5 for _, label in rows]))


def singles(rows):
    return Batch(np.array([ids for ids, _ in rows]), labels=np.array([label + 0.5 for _, label in rows]))


def make(folder, cls, collated, step=0):
    model, held_out = cls(TINY, rng=np.random.default_rng(2)), collated(examples(8, seed=9))
    options = {"evaluate": lambda: {"loss": float(model.loss(held_out).loss)}, "goal": Goal("loss", False)}
    data = task_data(step, Mock(side_effect=ConnectionAbortedError), collated)
    return make_trainer(folder, model=model, data=data, **options, **SETTINGS)


@pytest.mark.parametrize(("cls", "collated"), [(TwoTower, pairs), (Score, singles)])
@pytest.mark.filterwarnings("ignore:.*metrics.jsonl:UserWarning")
def test_it_is_trained_and_saved_and_goes_on_bit_for_bit(cls, collated, tmp_path):
    trainer = make(tmp_path / "whole", cls, collated)
    before, fresh = values(trainer.model), trainer.evaluate()["loss"]
    best = trainer.train()["loss"]
    assert best < fresh
    assert all((one != another).any() for one, another in zip(before, values(trainer.model), strict=True))
    loaded = cls.from_pretrained(tmp_path / "whole" / MODEL_FOLDER)
    assert float(loaded.loss(collated(examples(8, seed=9))).loss) == best
    with pytest.raises(ConnectionAbortedError):
        make(tmp_path / "cut", cls, collated, step=5).train()
    make(tmp_path / "cut", cls, collated).train()
    assert results(tmp_path / "cut") == results(tmp_path / "whole")


def test_every_encoder_is_checkpointed_and_a_model_without_one_cannot_be(tmp_path):
    model = Score(TINY, rng=np.random.default_rng(2))
    model.second = Score(TINY, rng=np.random.default_rng(2)).bert
    make_trainer(tmp_path, model=model, gradient_checkpointing=True)
    assert model.bert.encoder.gradient_checkpointing and model.second.encoder.gradient_checkpointing
    message = "^gradient_checkpointing needs a model with an Encoder, and NoBert has none$"
    with pytest.raises(ValueError, match=message):
        make_trainer(tmp_path, model=NoBert(TINY, rng=None), gradient_checkpointing=True)


def test_a_model_that_could_not_be_saved_is_not_trained(tmp_path):
    model = BertForSequenceClassification(TINY, rng=None)
    model.pooler = Pooler(TINY.hidden_size, Init(None))
    with pytest.raises(ValueError, match=r"bert\.pooler\.dense\.weight and pooler\.dense\.weight would both be called"):
        make_trainer(tmp_path, model=model, data=task_data())
