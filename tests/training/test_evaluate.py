"""evaluate_checkpoint: a finished model on a labelled file, with the labels that the checkpoint knows."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification
from npbert.files import FileError
from npbert.training.evaluate import evaluate_checkpoint
from npbert.training.tasks import TASKS, TaskSettings, make_task
from tests.training.tasks.tiny import FILES, tiny_config, tiny_tokenizer

pytest.importorskip("safetensors", reason="safetensors is not installed: pip install -e '.[hf]'")

TEXT = BertForSequenceClassification


@pytest.fixture
def evaluate(tmp_path):
    def evaluate(kind, content, favourite=None, settings=None, **changes):
        """The metrics of a new model on a file; `favourite` is the number of the class that it always chooses."""
        model = kind(tiny_config(**changes), rng=np.random.default_rng(0))
        if favourite is not None:
            model.classifier.bias.value[favourite] = 100
        model.save_pretrained(tmp_path / "model")
        tiny_tokenizer().save_pretrained(tmp_path / "model")
        (tmp_path / "a.tsv").write_text(content)
        settings = TaskSettings(**{"max_length": 32, **(settings or {})})
        return evaluate_checkpoint(tmp_path / "model", str(tmp_path / "a.tsv"), settings)

    return evaluate


@pytest.mark.parametrize("names", [("good", "bad"), ("bad", "good"), ("fair", "good", "bad"), None])
def test_labels_by_name_in_the_order_of_the_checkpoint_or_by_number(evaluate, names):
    """The model says "good", or 1, each time."""
    good, bad = ("good", "bad") if names else ("1", "0")
    content = f"a b\t{good}\nc\t{bad}\nd\t{good}\ne f\t{good}\n"
    count = len(names or "01")
    metrics = evaluate(TEXT, content, names.index("good") if names else 1, num_labels=count, id2label=names)
    assert metrics["accuracy"] == 0.75
    assert ("f1" in metrics) == (count == 2)


@pytest.mark.parametrize(("names", "label"), [(("good", "bad"), "fair"), (None, "2"), (None, "LABEL_1")])
def test_a_label_that_the_model_does_not_know(evaluate, names, label):
    known = "'good', 'bad'" if names else "'0', '1'"
    with pytest.raises(FileError, match=rf"a\.tsv, line 2: the label '{label}' is none of those in training: {known}"):
        evaluate(TEXT, f"a\t{(names or '0')[0]}\nb\t{label}\n", num_labels=2, id2label=names)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_as_in_training(evaluate, tmp_path, name):
    columns, content, _ = FILES[name]
    settings = {"task": name, "max_length": 20, **columns}
    task = make_task(TaskSettings(**settings), tiny_tokenizer())
    (tmp_path / "b.tsv").write_text(content)
    examples = task.read(str(tmp_path / "b.tsv"))
    model = task.model_class(tiny_config(**task.config()), rng=np.random.default_rng(0))
    assert evaluate(task.model_class, content, settings=settings, **task.config()) == task.evaluate(model, examples)


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("classification", BertForMaskedLM, "holds a model that fills in masked words, and not a text classifier"),
        ("classification", BertForQuestionAnswering, "holds a model that answers questions, and not a text classifier"),
        ("squad", TEXT, "holds a text classifier with 2 labels, and not a model that answers questions"),
        ("regression", TEXT, r"classifier\.weight \(2, 4\), wanted \(1, 4\)"),
        ("multiple-choice", TEXT, "holds a text classifier with 2 labels, and not a model for multiple choice"),
    ],
)
def test_a_head_is_neither_made_up_nor_taken_for_one_of_another_size(evaluate, name, model, message):
    columns, content, _ = FILES[name]
    with pytest.raises(FileError, match=rf"(?s){message}"):
        evaluate(model, content, settings={"task": name, **columns}, id2label=("good", "bad"))
