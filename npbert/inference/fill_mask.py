"""The words at a [MASK]: FillMask. save_dialogue_model: the toy dialogue's model, for it and transformers."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import SPECIAL, Batch, Dialogue, Tokenizer, Vocabulary
from npbert.data.dialogue import PUNCTUATION
from npbert.inference.task import ForTexts, Task
from npbert.io import at_least, import_extra
from npbert.layers import Softmax
from npbert.models import BertForMaskedLM, BertForPreTraining


class Prediction(NamedTuple):
    """A token and its probability at one [MASK]."""

    token: str
    score: float


def likely_words(probabilities: Array, vocabulary: Vocabulary, count: int) -> list[Prediction]:
    """Return the `count` most probable tokens at one [MASK], from the probabilities of all (V,)."""
    of_tokens = probabilities[: len(vocabulary)]  # further rows of the table are not tokens
    best = np.argsort(-of_tokens, kind="stable")[:count]
    return list(map(Prediction, vocabulary.decode(best), of_tokens[best].tolist()))


class FillMask(ForTexts[list[list[Prediction]]]):
    """fill_mask(text, top_k=5) -> for each [MASK] in the text, its `top_k` most probable tokens; for several texts, a
    list. ([MASK] is `tokenizer.mask_token`: RoBERTa and its kin write <mask>.)

    Warns: of texts cut to `max_length`.
    Raises: ValueError for a text without [MASK], or with its only [MASK] cut off; unless top_k is at least 1.
    """

    model_class = BertForMaskedLM
    model: BertForMaskedLM

    def results(self, texts: list[str], *, top_k: int = 5) -> list[list[list[Prediction]]]:
        at_least(1).check("top_k", top_k)
        encodings, mask_id = self.tokenize(texts), self.tokenizer.mask_id
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True), start=1):
            if mask_id not in encoding.ids:
                wanted = f"wanted a {self.tokenizer.special['mask_token']} that is not cut off"
                raise ValueError(f"text {number} is {text[:60]!r}, {wanted}")

        def compute(batch: Batch) -> list[Any]:
            masked = batch.input_ids == mask_id
            batch.labels = np.where(masked, 0, IGNORED)  # only positions with a label get logits
            found: list[Any] = [[] for _ in masked]
            for text, probabilities in zip(masked.nonzero()[0], Softmax()(self.outputs(batch)), strict=True):  # (n, V)
                found[text].append(likely_words(probabilities, self.tokenizer, top_k))
            return found

        return self.run(encodings, compute)


def save_dialogue_model(
    model: BertForPreTraining, dialogue: Dialogue, folder: str | Path, *, overwrite: bool = False
) -> None:
    """Write the model and its words into a folder for `npbert` and transformers. (Extra: hf.)

    The model gets one more token, [UNK], for unknown words: the mean of all others. Its tokenizer cleans a text as
    `split_words` does: lower case, without the punctuation.

    Raises: FileExistsError for a folder with another model, unless `overwrite`.
    """
    library, tokens = import_extra("tokenizers"), [*dialogue.vocabulary.tokens, SPECIAL["unk_token"]]
    words = library.BertWordPieceTokenizer({token: number for number, token in enumerate(tokens)})
    no_punctuation = library.normalizers.Replace(library.Regex(f"[{PUNCTUATION}]"), "")
    words.normalizer = library.normalizers.Sequence([words.normalizer, no_punctuation])
    tokenizer = Tokenizer(words)
    larger = BertForPreTraining(replace(model.config, vocab_size=len(tokenizer)), rng=None)
    for old, new in zip(model.parameters(), larger.parameters(), strict=True):
        new.value[...] = old.value.mean(axis=0)
        new.value[: len(old.value)] = old.value
    Task(larger, tokenizer).save_pretrained(folder, overwrite=overwrite)
