"""Multiple choice: a text with each of its choices, and which of them is right."""

import numpy as np
import pytest

from npbert.files import FileError
from npbert.training.tasks import MultipleChoice
from tests.training.tasks.tiny import Planted, model_that_learned, words_of

TABLE = "text\tone\ttwo\tthree\tgold\nann sings\ta b\tc\td e f\t2\nbob\td\te\tf\t0\nrome\ta\tb\tc\t1\n"
COLUMNS = {"text": "text", "choices": ("one", "two", "three"), "label": "gold", "batch_size": 2}
NUMBERS = {"text": "0", "choices": ("2", "3")}


def rows_of(batch):
    """Each example of a batch as a batch of its choices."""
    arrays = zip(batch.input_ids, batch.token_type_ids, batch.attention_mask, strict=True)
    return [type(batch)(ids, types, mask) for ids, types, mask in arrays]


def test_every_choice_comes_with_its_text_and_a_model_learns_from_it(read, tokenizer):
    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
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
    model, loss = model_that_learned(task, batch)
    assert abs(loss - np.log(3)) < 0.1
    assert set(task.evaluate(model, examples)) == {"accuracy"}


@pytest.mark.parametrize(("best", "accuracy"), [("fdb", 1), ("fda", 2 / 3), ("fec", 1 / 3), ("aec", 0)])
def test_accuracy_of_planted_scores(read, tokenizer, best, accuracy):
    """The choice that holds the planted word has the highest score; the batches have 2 and 1 examples."""
    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
    sizes = []

    def answer(batch):
        sizes.append(len(batch.input_ids))
        rows = [words_of(tokenizer, row) for row in rows_of(batch)]
        wanted = dict(zip(("ann", "bob", "rome"), best, strict=True))
        return np.array([[float(wanted[words[1]] in words) for words in row] for row in rows])

    assert task.evaluate(Planted(tokenizer, answer), examples) == {"accuracy": accuracy}
    assert sizes == [2, 1]


@pytest.mark.parametrize("label", ["3", "-1", "x", "", "1.0", "²"])
def test_choices_out_of_range(read, label):
    message = rf"a\.tsv, line 2: the label is '{label}', wanted the number of a choice, 0 to 2"
    with pytest.raises(FileError, match=message):
        read(MultipleChoice, f"text\tone\ttwo\tthree\tgold\nann\ta\tb\tc\t{label}\n", **COLUMNS)


def test_columns(read):
    _, (example,) = read(MultipleChoice, "a\t1\tb\tc\n", **NUMBERS)
    assert [encoding.tokens[3] for encoding in example.encodings] == ["b", "c"]
    assert example.label == 1, "by default it is in column 1"
    for choices in ((), ("one",)):
        with pytest.raises(ValueError, match=f"choices has {len(choices)} columns, wanted at least 2"):
            read(MultipleChoice, TABLE, **{**COLUMNS, "choices": choices})


def test_long_choices_are_cut_with_a_warning(read):
    content = "a\t0\tb b b b b b b\tc\na\t1\tb b b b\tc\na\t1\tb\tc\n"
    with pytest.warns(UserWarning, match="1 of 6 texts cut to 8 tokens"):
        _, examples = read(MultipleChoice, content, max_length=8, **NUMBERS)
    assert max(len(encoding.ids) for example in examples for encoding in example.encodings) == 8
