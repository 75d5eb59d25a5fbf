"""The words at a [MASK]: FillMask, by a checkpoint, and replies, by the model of the toy dialogue."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import IS_NEXT, SPECIAL, Batch, Dialogue, Tokenizer, Vocabulary, collate, join_pair, split_words
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


def replies(model: BertForPreTraining, dialogue: Dialogue, text: str) -> Iterator[str]:
    """Yield the model's answer to a text, in lines: the words for each [MASK]; for two lines with | between them, the
    probability that the second follows the first; for one line without [MASK], the line that follows it.

    Raises: ValueError for an unknown word, and for a line that is too long.
    """
    vocabulary, softmax = dialogue.vocabulary, Softmax()
    words = [["[MASK]" if word == "[mask]" else word for word in split_words(part)] for part in text.split("|", 1)]
    first, *second = map(vocabulary.ids, words)
    candidates: Sequence[list[int] | None] = second or ([None] if vocabulary.mask_id in first else dialogue.lines)
    batch = collate([join_pair(first, line, vocabulary) for line in candidates], pad_id=vocabulary.pad_id)
    batch.labels = np.where(batch.input_ids == vocabulary.mask_id, 0, IGNORED)  # 0 marks a word to predict
    output = model(batch)
    for probabilities in softmax(output.prediction_logits):
        best = likely_words(probabilities, vocabulary, 3)
        yield f"[MASK] is {', '.join(f'{word} ({share:.1%})' for word, share in best)}"
    follows = softmax(output.seq_relationship_logits)[:, IS_NEXT]
    if second:
        yield f"the second line follows the first: {follows[0]:.1%}"
    elif len(candidates) > 1:
        yield f"{dialogue.text[follows.argmax()]} ({follows.max():.1%})"


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
