"""Multiple choice: a text with each of its choices, and which of them is right."""

import numpy as np
import pytest

from npbert import BertForMultipleChoice
from npbert.files import FileError
from npbert.training.tasks import MultipleChoice, TaskSettings
from tests.training.tasks.tiny import Planted, tiny_config, tiny_tokenizer, words_of

TABLE = "text\tone\ttwo\tthree\tgold\nann sings\ta b\tc\td e f\t2\nbob\td\te\tf\t0\nrome\ta\tb\tc\t1\n"


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture
def read(tmp_path, tokenizer):
    def read(content=TABLE, **changes):
        columns = {"text": "text", "choices": ("one", "two", "three"), "label": "gold", "batch_size": 2}
        task = MultipleChoice(TaskSettings(**{**columns, **changes}), tokenizer)
        (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
        return task, task.read(str(tmp_path / "a.tsv"))

    return read


def test_every_choice_with_its_text(read, tokenizer):
    task, examples = read()
    assert [example.label for example in examples] == [2, 0, 1]
    batch = task.collate(examples)
    assert batch.input_ids.shape == batch.token_type_ids.shape == batch.attention_mask.shape == (3, 3, 8)
    assert batch.labels.tolist() == [2, 0, 1]
    (first, second, third), (fourth, *_), _ = (words_of(tokenizer, row) for row in rows_of(batch))
    assert first == ["[CLS]", "ann", "sings", "[SEP]", "a", "b", "[SEP]"]
    assert second == ["[CLS]", "ann", "sings", "[SEP]", "c", "[SEP]"]
    assert third == ["[CLS]", "ann", "sings", "[SEP]", "d", "e", "f", "[SEP]"]
    assert fourth == ["[CLS]", "bob", "[SEP]", "d", "[SEP]"]
    assert batch.token_type_ids[0, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def rows_of(batch):
    """Each example of a batch as a batch of its choices."""
    return [
        type(batch)(ids, types, mask)
        for ids, types, mask in zip(batch.input_ids, batch.token_type_ids, batch.attention_mask, strict=True)
    ]


def test_a_model_learns_from_it(read):
    task, examples = read()
    model = BertForMultipleChoice(tiny_config(), rng=np.random.default_rng(0))
    loss, cache = model.loss(task.collate(examples))
    model.backward(cache)
    assert abs(loss - np.log(3)) < 0.1
    assert set(task.evaluate(model, examples)) == {"accuracy"}
    assert task.config() == {}


@pytest.mark.parametrize(("best", "accuracy"), [("fdb", 1), ("fda", 2 / 3), ("fec", 1 / 3), ("aec", 0)])
def test_accuracy_of_planted_scores(read, tokenizer, best, accuracy):
    """The choice that holds the planted word has the highest score; the batches have 2 and 1 examples."""
    task, examples = read()

    def answer(batch):
        rows = [words_of(tokenizer, row) for row in rows_of(batch)]
        wanted = dict(zip(("ann", "bob", "rome"), best, strict=True))
        return np.array([[float(wanted[words[1]] in words) for words in row] for row in rows])

    assert task.evaluate(Planted(tokenizer, answer), examples) == {"accuracy": accuracy}


@pytest.mark.parametrize("label", ["3", "-1", "x", "", "1.0", "²"])
def test_choices_out_of_range(read, label):
    with pytest.raises(
        FileError, match=rf"a\.tsv, line 2: the label is '{label}', wanted the number of a choice, 0 to 2"
    ):
        read(f"text\tone\ttwo\tthree\tgold\nann\ta\tb\tc\t{label}\n")


def test_columns(read):
    _, examples = read("a\t1\tb\tc\n", text="0", choices=("2", "3"), label="")
    assert [encoding.tokens[3] for encoding in examples[0].encodings] == ["b", "c"]
    assert examples[0].label == 1
    for choices in ((), ("one",)):
        with pytest.raises(ValueError, match=f"choices has {len(choices)} columns, wanted at least 2"):
            read(choices=choices)


def test_long_choices_are_cut_with_a_warning(read):
    with pytest.warns(UserWarning, match="1 of 6 texts cut to 8 tokens"):
        _, examples = read(
            "a\t0\tb b b b b b b\tc\na\t1\tb b b b\tc\na\t1\tb\tc\n",
            text="0",
            choices=("2", "3"),
            label="1",
            max_length=8,
        )
    assert max(len(encoding.ids) for example in examples for encoding in example.encodings) == 8
