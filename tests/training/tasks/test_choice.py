"""Multiple choice: a text with each of its choices, and which of them is right."""

import numpy as np
import pytest

from npbert import Batch
from npbert.training.tasks import MultipleChoice
from tests.training.tasks.tiny import Planted, words_of

TABLE = "text\tone\ttwo\tthree\tgold\nann sings\ta b\tc\td e f\t2\nbob\td\te\tf\t0\nrome\ta\tb\tc\t1\n"
COLUMNS = {"text": "text", "choices": ("one", "two", "three"), "label": "gold", "batch_size": 2}


def rows_of(batch):
    """Each example of a batch as a batch of its choices."""
    return [Batch(*arrays) for arrays in zip(batch.input_ids, batch.token_type_ids, batch.attention_mask, strict=True)]


def test_every_choice_comes_with_its_text(read, tokenizer):
    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
    batch = task.collate(examples)
    assert batch.input_ids.shape == batch.token_type_ids.shape == batch.attention_mask.shape == (3, 3, 8)
    assert batch.labels.tolist() == [example.label for example in examples] == [2, 0, 1]
    sentences = [[" ".join(words) for words in words_of(tokenizer, row)] for row in rows_of(batch)]
    assert sentences[0] == [f"[CLS] ann sings [SEP] {choice} [SEP]" for choice in ("a b", "c", "d e f")]
    assert sentences[1] == [f"[CLS] bob [SEP] {choice} [SEP]" for choice in "def"]
    assert batch.token_type_ids[0, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("best", "accuracy"), [("fdb", 1), ("fda", 2 / 3), ("fec", 1 / 3), ("aec", 0)])
def test_accuracy_of_planted_scores(read, tokenizer, best, accuracy):
    """The choice that holds the planted word has the highest score; the batches have 2 and 1 examples."""

    def answer(batch):
        sizes.append(len(batch.input_ids))
        rows = [words_of(tokenizer, row) for row in rows_of(batch)]
        return np.array([[float(wanted[words[1]] in words) for words in row] for row in rows])

    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
    sizes, wanted = [], dict(zip(("ann", "bob", "rome"), best, strict=True))
    right = round(3 * accuracy)
    loss = np.log(2 + np.e) - right / 3  # of one logit that is 1 and two that are 0
    assert task.evaluate(Planted(tokenizer, answer), examples) == pytest.approx({"accuracy": accuracy, "loss": loss})
    assert sizes == [2, 1]


def test_columns(read):
    _, (example,) = read(MultipleChoice, "a,1,b,c\n", text="0", choices=("2", "3"), delimiter="comma")
    assert [encoding.tokens[3] for encoding in example.encodings] == ["b", "c"]
    assert example.label == 1, "by default it is in column 1"
    for choices in ((), ("one",)):
        with pytest.raises(ValueError, match=f"choices has {len(choices)} columns, wanted at least 2"):
            read(MultipleChoice, TABLE, **{**COLUMNS, "choices": choices})
