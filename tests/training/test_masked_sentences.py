"""The sentences with hidden words: always the same, short, and with what the model thinks of each hidden one."""

from dataclasses import replace

import numpy as np
import pytest

from npbert import Batch, BertForMaskedLM, BertForPreTraining
from npbert.core import IGNORED
from npbert.data.corpus import Corpus
from npbert.training.masked_sentences import GUESSES, SENTENCES, MaskedSentences
from tests.small_tokenizer import small_tokenizer
from tests.training.tiny import TINY, VOCABULARY, write_corpus


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer(" ".join([*VOCABULARY[5:], "##ful", "##ly"]))


def sentences(tokenizer, path, text=None, **options):
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return MaskedSentences(Corpus([path]), tokenizer, **{"max_length": 64, "seed": 3, **options})


@pytest.mark.parametrize("model_class", [BertForMaskedLM, BertForPreTraining])
def test_what_is_shown_is_what_the_model_says(tmp_path, tokenizer, model_class):
    chosen = sentences(tokenizer, write_corpus(tmp_path / "a.txt", documents=12))
    assert len(chosen.input_ids) == SENTENCES
    again = sentences(tokenizer, tmp_path / "a.txt")
    assert (chosen.input_ids, chosen.labels) == (again.input_ids, again.labels)
    assert chosen.input_ids != sentences(tokenizer, tmp_path / "a.txt", seed=4).input_ids

    config = replace(TINY, vocab_size=len(tokenizer))
    model = model_class(config, rng=np.random.default_rng(0), dtype=np.float64)
    shown = chosen.show(model)
    assert shown == chosen.show(model), "there is no dropout"
    assert shown["kind"] == "masked"
    for ids, labels, row in zip(chosen.input_ids, chosen.labels, shown["sentences"], strict=True):
        assert row["tokens"] == tokenizer.decode(ids)
        output = model(Batch(np.array([ids])))
        logits = getattr(output, "prediction_logits", output)[0]
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert [one["place"] for one in row["hidden"]] == [i for i, label in enumerate(labels) if label != IGNORED]
        for one in row["hidden"]:
            of_place, label = p[one["place"]], labels[one["place"]]
            assert (row["tokens"][one["place"]], one["token"]) == ("[MASK]", tokenizer.decode([label])[0])
            assert one["probability"] == pytest.approx(of_place[label], rel=1e-3)
            best = np.argsort(-of_place, kind="stable")[:GUESSES]
            assert [token for token, _ in one["guesses"]] == tokenizer.decode(best)
            assert [score for _, score in one["guesses"]] == pytest.approx(of_place[best], rel=1e-3)


def test_whole_words_are_hidden_and_no_punctuation(tmp_path, tokenizer):
    chosen = sentences(tokenizer, tmp_path / "a", "catful . . . . . . . . . . . . . . .\n" * 3)
    for ids, labels in zip(chosen.input_ids, chosen.labels, strict=True):
        assert [i for i, label in enumerate(labels) if label != IGNORED] == [1, 2], "both pieces of the only word"
        assert [index == tokenizer.mask_id for index in ids[:4]] == [False, True, True, False]
    chosen = sentences(tokenizer, tmp_path / "a", f"{'the cat sees a dog ' * 4}.\n" * 3)
    assert [np.not_equal(labels, IGNORED).sum() for labels in chosen.labels] == [2] * 3, "one for every eight tokens"


@pytest.mark.parametrize(
    ("text", "count", "longest"),
    [("the cat sees a dog .\n", 1, 8), ("cat " * 500 + "\n", 1, 24), ("cat\n", 1, 3), ("§\n§ §\n", 0, 0)],
)
def test_odd_corpora(tmp_path, tokenizer, text, count, longest):
    """Too short, too long, or without a known word."""
    chosen = sentences(tokenizer, tmp_path / "a.txt", text)
    assert len(chosen.input_ids) == count
    assert max(map(len, chosen.input_ids), default=0) == longest
    assert all(any(label != IGNORED for label in labels) for labels in chosen.labels)
    assert count or chosen.show(None) == {}
    assert max(map(len, sentences(tokenizer, tmp_path / "a.txt", max_length=8).input_ids), default=0) == min(longest, 8)
