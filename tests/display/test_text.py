"""What objects say of themselves, for print and in a notebook."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import (
    BertConfig,
    BertForPreTraining,
    Linear,
    check_gradients,
)
from npbert.data import Batch, collate, draw_pairs, load_dialogue, make_example
from tests.small_tokenizer import small_tokenizer

RNG = np.random.default_rng(0)
DIALOGUE = load_dialogue(9)
MODEL = BertForPreTraining(BertConfig.preset("bert-tiny", vocab_size=41), rng=RNG)


def batch_of(count):
    examples = [make_example(DIALOGUE, pair, RNG) for pair in draw_pairs(9, count, RNG)]
    return collate(examples, pad_id=0, decode=DIALOGUE.vocabulary.decode)


def test_a_batch_shows_tokens_and_labels():
    batch = Batch([[1, 5, 3, 2, 0]], [[0, 0, 1, 1, 0]], [[1, 1, 1, 1, 0]], labels=[[-100, -100, 6, -100, -100]])
    batch.names = {"input_ids": DIALOGUE.vocabulary.decode, "labels": DIALOGUE.vocabulary.decode}
    assert repr(batch).splitlines()[-1] == "  [CLS] am [MASK]→are [SEP]"


def test_what_a_model_returns_and_its_config_take_a_few_lines():
    shown = repr(MODEL.bert(batch_of(10)))
    assert len(shown) < 800 and "last_hidden_state: (10, " in shown and "pooler_output: (10, 128)" in shown
    assert "\n  vocab_size: 41\n" in repr(MODEL.config)


TOKENIZER = small_tokenizer("hello world")
WRONG = {
    "tokenizer.batch(tokenizer.encode(texts))": lambda: TOKENIZER.batch(["hello world"]),
    "batch is a str, wanted a Batch; use tokenizer.batch(": lambda: MODEL("hello world"),
    "tape is None, wanted a Tape": lambda: MODEL(batch_of(2), None),
    "Linear is a class, wanted a layer, such as Linear()": lambda: check_gradients(Linear, np.ones((2, 3))),
    "forward takes no tape, wanted forward(x, tape=NO_TAPE)": lambda: check_gradients(
        SimpleNamespace(forward=lambda x: x, backward=lambda dy, tape: dy), np.ones(3)
    ),
    "SimpleNamespace has a forward and no backward": lambda: check_gradients(
        SimpleNamespace(forward=lambda x: x), np.ones(3)
    ),
}


@pytest.mark.parametrize("wanted", WRONG)
def test_what_is_typed_in_a_notebook_by_mistake_is_answered_in_a_sentence(wanted):
    with pytest.raises((TypeError, ValueError), match=re.escape(wanted)):
        WRONG[wanted]()


def test_everything_that_a_user_holds_says_what_it_is():
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: pip install -e '.[train]'")
    from tests.test_package import things  # imports all that npbert can use, which takes long

    inner = {
        "Call",
        "ScalarFunction",
        "Mending",
        "Shares",
        "TensorFile",
        "Communicator",
    }
    silent = [name for name, thing in things().items() if getattr(thing, "__repr__", 0) is object.__repr__]
    never_made, a_function = {"AutoModelForPreTraining"}, {"ClassCenters"}
    assert {name.rpartition(".")[2] for name in silent} - inner - never_made - a_function == set()
