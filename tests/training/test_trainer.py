"""The Trainer: it does what its settings say, and what it leaves on disk says what it did."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from npbert import AdamW, BertForSequenceClassification, linear_warmup_decay
from npbert.data.place import START, Place
from npbert.data.task_data import TaskData
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.pretrain import evaluate_losses
from npbert.training.trainer import MODEL_FOLDER, Goal
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data


@pytest.fixture(autouse=True)
def no_picture(monkeypatch):
    """A picture takes longer than a run; test_plot.py looks at it."""
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


def rows(folder: Any) -> list[dict[str, Any]]:
    return read_metrics(folder / METRICS_FILE)


def values(model: Any) -> list[Any]:
    return [parameter.value.copy() for parameter in model.parameters()]


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    for one, another in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, another)


def test_it_learns(tmp_path):
    make_trainer(tmp_path, steps=80, learning_rate=2e-2).train()
    losses = [row["loss"] for row in rows(tmp_path)]
    assert np.mean(losses[:5]) > 0.5
    assert np.mean(losses[-5:]) < 0.15
    assert rows(tmp_path)[-1]["accuracy"] == 1


@pytest.mark.parametrize("warmup", [0.0, 0.25, 0.1])
def test_the_learning_rate_by_step(tmp_path, warmup):
    trainer = make_trainer(tmp_path, warmup=warmup, learning_rate=0.3)
    used = []
    step = trainer.optimizer.step
    trainer.optimizer.step = lambda scale: (used.append(trainer.optimizer.lr), step(scale))
    trainer.train()
    wanted = [
        linear_warmup_decay(step, lr=0.3, warmup_steps=int(warmup * 12), total_steps=12) for step in range(trainer.step)
    ]
    assert used == wanted
    assert max(wanted) == 0.3
    assert [(row["step"], row["learning_rate"]) for row in rows(tmp_path)] == list(enumerate(wanted, start=1))


@pytest.mark.parametrize("limit", [1e-3, 1e3])
def test_gradients_are_clipped(tmp_path, limit):
    trainer = make_trainer(tmp_path, max_grad_norm=limit)
    norms = []
    step = trainer.optimizer.step

    def measured(scale: float) -> None:
        squares = sum(float((parameter.grad**2).sum()) for parameter in trainer.optimizer.parameters)
        norms.append(scale * math.sqrt(squares))
        step(scale)

    trainer.optimizer.step = measured
    trainer.train()
    before = [row["gradient_norm"] for row in rows(tmp_path)]
    assert min(before) > 0.01
    assert norms == pytest.approx([min(norm, limit) for norm in before], rel=1e-3)


def test_the_same_as_by_hand(tmp_path):
    trainer = make_trainer(tmp_path, model=classifier(np.float64), weight_decay=0.3, max_grad_norm=1e9, steps=3)
    trainer.train()

    model, rng = classifier(np.float64), np.random.default_rng(0)
    optimizer = AdamW(model.parameters(), weight_decay=0.3)
    batches = task_data().batches(int(rng.integers(2**63)))
    for step, (_, batch) in zip(range(3), batches, strict=False):
        model.zero_grad()
        model.backward(model.loss(batch, rng)[1])
        optimizer.lr = linear_warmup_decay(step, lr=1e-2, warmup_steps=0, total_steps=3)
        optimizer.step()
    assert_same(values(trainer.model), values(model))


def test_parts_change_nothing_but_memory(tmp_path):
    models = []
    for parts in (1, 3, 9):  # 9 is more than a batch of 4 has sequences: then each is a part
        model = classifier(np.float64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        make_trainer(tmp_path / str(parts), model=model, parts=parts).train()
        models.append(values(model))
    for other in models[1:]:
        for ours, theirs in zip(other, models[0], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    assert any((ours != theirs).any() for ours, theirs in zip(models[1], models[0], strict=True)), "split at all?"


class Recorded:
    """Which batches were asked for."""

    def __init__(self, data: Any) -> None:
        self.data, self.seen = data, []

    def batches(self, epoch_seed: int, place: Place = START) -> Any:
        for where, batch in self.data.batches(epoch_seed, place):
            self.seen.append((epoch_seed, where, batch.input_ids))
            yield where, batch


def test_every_epoch_has_all_examples_in_an_order_of_its_own(tmp_path):
    data = Recorded(task_data())
    make_trainer(tmp_path, data=data).train()
    seeds, places, ids = zip(*data.seen, strict=True)
    assert [place.batch for place in places] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert len(set(seeds[:5])) == len(set(seeds[5:10])) == 1
    assert len(set(seeds)) == 3
    epochs = [np.concatenate(ids[start : start + 5]).tolist() for start in (0, 5)]
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(row for row, _ in examples())
    assert [row["epoch"] for row in rows(tmp_path)] == [0] * 5 + [1] * 5 + [2] * 2


def test_the_seed_decides(tmp_path):
    def run(name: str, seed: int) -> dict[str, bytes]:
        make_trainer(tmp_path / name, seed=seed).train()
        return results(tmp_path / name)

    first = run("a", 1)
    assert run("b", 1) == first
    assert run("c", 2) != first


def test_rows_of_the_log_are_means_since_the_row_before(tmp_path):
    make_trainer(tmp_path / "1").train()
    make_trainer(tmp_path / "5", log_every=5).train()
    each, fifth = rows(tmp_path / "1"), rows(tmp_path / "5")
    assert [row["step"] for row in fifth] == [5, 10, 12], "and the last one"
    assert list(fifth[0]) == ["step", "loss", "accuracy", "epoch", "learning_rate", "gradient_norm"]
    for row, steps in zip(fifth, (each[0:5], each[5:10], each[10:12]), strict=True):
        assert row["loss"] == pytest.approx(np.mean([step["loss"] for step in steps]))
        assert row["accuracy"] == pytest.approx(np.mean([step["accuracy"] for step in steps]))
        assert row["gradient_norm"] == steps[-1]["gradient_norm"]


class Judge:
    """An evaluation that gives what it is told, and remembers when, and the model at that time."""

    def __init__(self, *scores: float, name: str = "score") -> None:
        self.scores, self.name, self.steps, self.models = iter(scores), name, [], []
        self.trainer: Any = None

    def __call__(self) -> dict[str, float]:
        self.steps.append(self.trainer.step)
        self.models.append(values(self.trainer.model))
        return {self.name: next(self.scores), "other": 1.0}


def judged(folder: Any, judge: Judge, *, more_is_better: bool = True, **settings: Any) -> Any:
    goal = Goal("score", more_is_better=more_is_better)
    judge.trainer = make_trainer(folder, evaluate=judge, goal=goal, **settings)
    return judge.trainer


def saved(folder: Any) -> list[Any]:
    return values(BertForSequenceClassification.from_pretrained(folder / MODEL_FOLDER))


@pytest.mark.parametrize(
    ("scores", "more_is_better", "best"),
    [
        ((1, 3, 2, 2.5), True, 1),
        ((3, 1, 2, 1.5), False, 1),
        ((1, 1, 1, 1), True, 0),
        ((1, 2, 3, 4), True, 3),
        ((math.nan, 1, 2, math.nan), True, 2),
        ((2, math.nan, 1, 3), False, 2),
    ],
)
def test_the_best_model_is_kept(tmp_path, scores, more_is_better, best):
    judge = Judge(*scores)
    trainer = judged(tmp_path, judge, more_is_better=more_is_better, evaluate_every=3)
    numbers = trainer.train()
    assert judge.steps == [3, 6, 9, 12]
    assert_same(saved(tmp_path), judge.models[best])
    assert trainer.progress.best == scores[best]
    assert numbers == {"score": scores[best], "other": 1.0}, "those of the model that is kept"
    assert trainer.progress.best_step == 3 * (best + 1)
    logged = [(row["step"], row["eval_score"]) for row in rows(tmp_path) if "eval_score" in row]
    finite = [None if math.isnan(score) else score for score in scores]
    assert logged == [(3 * i, score) for i, score in enumerate(finite, start=1)]


def test_the_last_step_is_evaluated_in_any_case(tmp_path):
    judge = Judge(1, 2, 3)
    judged(tmp_path, judge, evaluate_every=5).train()
    assert judge.steps == [5, 10, 12]
    judge = Judge(1)
    judged(tmp_path / "b", judge).train()
    assert judge.steps == [12]


@pytest.mark.parametrize("evaluate_every", [0, 5])
def test_without_an_evaluation_the_last_model_is_kept(tmp_path, evaluate_every):
    trainer = make_trainer(tmp_path, evaluate_every=evaluate_every)
    assert trainer.train() == {}
    assert_same(saved(tmp_path), values(trainer.model))


def test_without_a_goal_the_last_model_is_kept(tmp_path):
    trainer = make_trainer(tmp_path, evaluate=lambda: {"score": 1.0}, evaluate_every=4, patience=1)
    trainer.train()
    assert trainer.step == 12
    assert_same(saved(tmp_path), values(trainer.model))


def test_patience(tmp_path):
    judge = Judge(1, 3, 2, 3, 4)
    trainer = judged(tmp_path, judge, evaluate_every=2, patience=2)
    trainer.train()
    assert trainer.step == 8
    assert_same(saved(tmp_path), judge.models[1])
    again = judged(tmp_path, Judge(), evaluate_every=2, patience=2)
    assert again.train() == {"score": 3, "other": 1.0}, "a finished run stays finished"
    assert again.step == 8


def test_patience_counts_anew_after_a_better_result(tmp_path):
    trainer = judged(tmp_path, Judge(1, 0, 2, 1, 3, 2), evaluate_every=2, patience=2)
    trainer.train()
    assert trainer.step == 12


def test_a_finished_run_is_not_trained_on(tmp_path):
    make_trainer(tmp_path).train()
    before = results(tmp_path)
    again = make_trainer(tmp_path, seed=3)
    again.train()
    assert again.step == 12
    assert results(tmp_path) == before


def test_evaluation_is_without_dropout_and_draws_nothing(tmp_path):
    model = classifier(hidden_dropout_prob=0.5)
    held_out = collate(examples(8, seed=9))
    numbers = [evaluate_losses(model, [held_out], ("",)) for _ in range(2)]
    assert numbers[0] == numbers[1]
    trainer = make_trainer(tmp_path, model=model, evaluate=lambda: evaluate_losses(model, [held_out], ("",)))
    assert trainer.train() == evaluate_losses(model, [held_out], ("",))


def test_held_out_losses_are_means_over_all_targets():
    model, rows_ = classifier(np.float64), examples(7, seed=9)
    batches = [collate(rows_[:1]), collate(rows_[1:])]
    whole = evaluate_losses(model, [collate(rows_)], ("",))
    assert evaluate_losses(model, batches, ("",)) == pytest.approx(whole, rel=1e-12)


def test_an_evaluation_without_the_number_that_counts(tmp_path):
    message = "there is no metric 'score', by which the best model is chosen: the evaluation gives loss, other"
    with pytest.raises(ValueError, match=message):
        judged(tmp_path, Judge(1, name="loss")).train()


def test_data_without_batches(tmp_path):
    with pytest.raises(ValueError, match="the training data has no batches"):
        make_trainer(tmp_path, data=TaskData([], collate)).train()


def test_no_steps(tmp_path):
    with pytest.raises(ValueError, match="steps is 0, wanted at least 1"):
        make_trainer(tmp_path, steps=0)
