"""The Trainer: it does what its settings say, and what it leaves on disk says what it did."""

import itertools
import math

import numpy as np
import pytest

from npbert import AdamW, BertForSequenceClassification, Init, Pooler, Tape, clip_by_global_norm, linear_warmup_decay
from npbert.compute.blas_lending import lend_to_blas
from npbert.data.batch import TaskData
from npbert.io.lines import LAYERS_FILE, METRICS_FILE, read_json_lines
from npbert.training import MODEL_FOLDER, evaluate_losses
from tests.computing import BLAS_THREADS, on_threads
from tests.training.tiny import TINY, assert_same, classifier, collate, examples, make_trainer, task_data, values


def rows(folder):
    return read_json_lines(folder / METRICS_FILE)


def test_the_same_as_by_hand(tmp_path):
    """Two epochs with dropout: gradients start at 0, are clipped, and decay and learning rate are those of the step."""
    settings = {"weight_decay": 0.3, "max_grad_norm": 0.05, "learning_rate": 0.02, "warmup": 0.7}
    trainer = make_trainer(tmp_path, model=classifier(np.float64), steps=7, **settings)
    trainer.train()

    model, seed = classifier(np.float64), int(np.random.default_rng(0).integers(2**63))
    optimizer = AdamW(model.parameters(), weight_decay=0.3)
    logged, batches = [], []
    for step in range(7):
        if step == len(batches):
            batches += task_data().batches(seed + step // 5)
        tape = Tape(np.random.default_rng([seed, step, 0]))
        model.zero_grad()
        loss = model.loss(batches[step][1], tape).loss
        model.loss_backward(1.0, tape)
        norm = clip_by_global_norm(model.parameters(), 0.05)
        optimizer.lr = linear_warmup_decay(step, lr=0.02, warmup_steps=4, total_steps=7)
        optimizer.step()
        logged.append([step + 1, loss, step // 5, optimizer.lr, norm])
    for ours, theirs in zip(values(trainer.model), values(model), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    columns = ("step", "loss", "epoch", "learning_rate", "gradient_norm")
    np.testing.assert_allclose([[row[name] for name in columns] for row in rows(tmp_path)], logged, rtol=1e-9)


def test_rows_of_the_log_are_means_since_the_row_before(tmp_path):
    make_trainer(tmp_path / "1").train()
    make_trainer(tmp_path / "5", log_every=5).train()
    each, fifth = rows(tmp_path / "1"), rows(tmp_path / "5")
    layers = read_json_lines(tmp_path / "5" / LAYERS_FILE)
    assert [row["step"] for row in fifth] == [row["step"] for row in layers] == [5, 10, 12], "and the last one"
    for row, steps in zip(fifth, (each[0:5], each[5:10], each[10:12]), strict=True):
        for name in ("loss", "accuracy"):
            assert row[name] == pytest.approx(np.mean([step[name] for step in steps]))
        assert row["gradient_norm"] == steps[-1]["gradient_norm"]


class Judge:
    """An evaluation that gives what it is told, and remembers when, and the model at that time."""

    def __init__(self, folder, scores, losses=(), *, goal="score", **settings):
        self.scores, self.losses, self.name = iter(scores), itertools.chain(losses, itertools.repeat(1.0)), goal
        self.steps, self.models = [], []
        self.trainer = make_trainer(folder, evaluate=self.evaluate, goal=goal, **settings)

    def evaluate(self):
        self.steps.append(self.trainer.step)
        self.models.append(values(self.trainer.model))
        return {self.name: next(self.scores), "loss": next(self.losses)}


def saved(folder):
    return values(BertForSequenceClassification.from_pretrained(folder / MODEL_FOLDER))


@pytest.mark.parametrize(
    ("scores", "losses", "goal", "best"),
    [
        ((1, 3, 2, 2.5), (), "score", 1),
        ((3, 1, 2, 1.5), (), "mlm_loss", 1),
        ((math.nan, 1, 2, math.nan), (), "score", 2),
        ((0.0,) * 4, (3.0, 1.0, 2.0, 1.0), "score", 1),  # as of Matthews, until the model has learned something
    ],
)
def test_the_best_model_is_kept(tmp_path, scores, losses, goal, best):
    """But of a loss, more is better; of equal scores, that with the smaller loss."""
    judge = Judge(tmp_path, scores, losses, goal=goal, evaluate_every=2, steps=7)
    numbers = judge.trainer.train()
    wanted = {goal: scores[best], "loss": losses[best] if losses else 1.0}
    assert numbers == pytest.approx(wanted, rel=0, nan_ok=True), "of the model kept"
    assert judge.steps == [2, 4, 6, 7], "the last step is evaluated in any case"
    assert_same(saved(tmp_path), judge.models[best])
    assert judge.trainer.progress.best_step == judge.steps[best]
    logged = [(row["step"], row[f"eval_{goal}"]) for row in rows(tmp_path) if f"eval_{goal}" in row]
    assert logged == list(zip(judge.steps, [None if math.isnan(score) else score for score in scores], strict=True))


def test_without_a_goal_the_last_model_is_kept(tmp_path):
    trainer = make_trainer(tmp_path, steps=8, evaluate=lambda: {"score": 1.0}, evaluate_every=4, patience=1)
    assert trainer.train() == {"score": 1.0} and trainer.step == 8
    assert_same(saved(tmp_path), values(trainer.model))


@pytest.mark.parametrize(
    ("scores", "last", "best"),
    [
        ((1, 3, 2, 3, 4), 4, 1),
        ((1, 0, 2, 1, 3, 2), 6, 4),  # it counts anew
        ((math.nan,) * 6, 3, 0),  # no evaluation gives a number
    ],
)
def test_patience(tmp_path, scores, last, best, capsys):
    first, again = (Judge(tmp_path, scores, evaluate_every=1, patience=2, steps=6) for _ in range(2))
    for judge in (first, again):
        said = judge.trainer.train()
        assert said == pytest.approx({"score": scores[best], "loss": 1.0}, rel=0, nan_ok=True)
        assert judge.trainer.step == last
    assert again.steps == [], "a finished run stays finished"
    assert f"ended at step {last}; to continue, give more steps or more patience" in capsys.readouterr().out
    assert_same(saved(tmp_path), first.models[best])


def test_evaluation_is_without_dropout_and_threads_of_blas_and_over_all_targets(tmp_path, count_of_blas):
    """BLAS may round otherwise on several, and a clock says whether it has them: the files of a run would differ."""
    model, held_out, seen = classifier(hidden_dropout_prob=0.5), examples(7, seed=9), []

    def evaluate():
        with lend_to_blas() as is_lent:
            seen.append((is_lent, count_of_blas()))
        return evaluate_losses(model, [collate(held_out[:1]), collate(held_out[1:])], ("",))

    with on_threads(2):
        numbers = make_trainer(tmp_path, model=model, evaluate=evaluate, steps=2).train()
    assert set(seen) == {(False, 1)} and count_of_blas() == BLAS_THREADS
    whole = model.loss(collate(held_out))
    assert numbers == pytest.approx({"loss": whole.loss, "accuracy": whole.counts_right[0] / 7}, rel=1e-5)


def test_what_cannot_be(tmp_path):
    with pytest.raises(ValueError, match=r"metric is 'score', wanted one of gold, loss"):
        make_trainer(tmp_path, evaluate=lambda: {"gold": 1, "loss": 1}, goal="score", steps=1).train()
    with pytest.raises(ValueError, match="the training data has no batches"):
        make_trainer(tmp_path / "b", data=TaskData([], collate)).train()
    model = classifier()
    model.pooler = Pooler(TINY.hidden_size, Init(None))
    with pytest.raises(ValueError, match=r"bert\.pooler\.dense\.weight and pooler\.dense\.weight would both be"):
        make_trainer(tmp_path, model=model)
