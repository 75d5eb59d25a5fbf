"""A task that npbert has saved, as transformers reads and runs it: the same answers, text by text."""

import numpy as np
import pytest

from npbert import Classify, Tag
from tests.inference.checkpoints import write_checkpoint
from tests.later import later
from tests.parity import torch

transformers = later("transformers", "transformers")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.* texts? cut to the 9 tokens")]

NAMES = ["O", "B-X", "I-X"]
TEXTS = ["the cat sat on the mat.", "a unaffable Dog", "", "Café-road?", "the cat ran on a mat. " * 4]


def predictions(task, text):
    """The label and the probability of the text, or of each of its words, with the place of the word."""
    found = task(text)
    if isinstance(task, Tag):
        return [(word.start, word.tag, word.score) for word in found.words]
    return [(None, found.label, found.score)]


@pytest.mark.parametrize(("kind", "head"), [(Classify, "SequenceClassification"), (Tag, "TokenClassification")])
def test_a_saved_task_gives_the_same_answers_in_transformers(kind, head, tmp_path):
    folder = write_checkpoint(tmp_path / "old", kind.model_class, num_labels=3, id2label=NAMES)
    kind.from_pretrained(folder, max_length=9).save_pretrained(tmp_path / "new")
    task = kind.from_pretrained(tmp_path / "new")
    model = getattr(transformers, f"BertFor{head}").from_pretrained(tmp_path / "new").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    for text in TEXTS:
        tokens = tokenizer(text, truncation=True, return_tensors="pt")
        with torch.no_grad():
            (scores,) = model(**tokens).logits.double().softmax(-1).numpy()
        for start, label, score in predictions(task, text):
            p = scores if start is None else scores[tokens.char_to_token(start)]
            assert (label, score) == (NAMES[np.argmax(p)], pytest.approx(p.max(), rel=1e-5))
    assert len(tokens["input_ids"][0]) == 9
