"""Classify, labels with their probabilities, and regressions; FillMask, the most probable tokens at each [MASK]; and
Tag, a tag for every word, where the word stands, and the entities that the tags make."""

import numpy as np
import pytest

from npbert import BertForSequenceClassification, Classify, FillMask, Tag
from tests.inference.checkpoints import LONGEST, WORDS, write_checkpoint
from tests.small_tokenizer import small_tokenizer
from tests.training.tasks.tiny import Planted, words_of

TEXTS = ["the cat sat on the mat.", ("a dog", "ran"), "", ("a dog ran", ""), "the unaffable dog"]
MASKED = ["the [MASK] sat on [MASK] mat.", "[MASK]", "a dog ran on the [MASK]? [MASK] [MASK]", "a [MASK]"]


def classifier(folder, **changes):
    return Classify.from_pretrained(write_checkpoint(folder, BertForSequenceClassification, **changes))


@pytest.fixture(scope="module")
def fill_mask(checkpoints):
    return FillMask.from_pretrained(checkpoints["fill-mask"])


def by_hand(task, text):
    """The logits of a text in a batch of its own, and the ids in it."""
    batch = task.tokenizer.batch(task.tokenizer.encode([text]))
    return task.model(batch)[0], batch.input_ids[0]


def test_labels(tmp_path):
    classify = classifier(tmp_path, num_labels=3, id2label=["bad", "fair", "good"])
    results = classify(TEXTS)
    for text, (label, score, scores) in zip(TEXTS, results, strict=True):
        e = np.exp(by_hand(classify, text)[0])
        assert list(scores) == ["bad", "fair", "good"]
        np.testing.assert_allclose(list(scores.values()), e / e.sum(), rtol=1e-5)
        assert label == max(scores, key=scores.get) and score == scores[label]
        assert all(type(value) is float for value in scores.values())


def test_a_regression(tmp_path):
    """A tuple is a pair, and a list is two texts."""
    classify = classifier(tmp_path, num_labels=1)
    results = classify(TEXTS)
    assert {type(result) for result in [*results, classify("")]} == {float}
    assert results == pytest.approx([float(by_hand(classify, text)[0][0]) for text in TEXTS], rel=1e-5, abs=1e-5)
    assert classify(("a dog", "ran")) == pytest.approx(results[1], rel=1e-5)
    assert len(classify(["a dog", "ran"])) == 2 and classify([]) == []


def test_tokens_at_masks(fill_mask):
    """Of texts of different lengths and with different numbers of masks, in the order of the texts."""
    results = fill_mask(MASKED, top_k=3)
    assert [len(masks) for masks in results] == [2, 1, 3, 1]
    for text, masks in zip(MASKED, results, strict=True):
        logits, ids = by_hand(fill_mask, text)
        for mask, e in zip(masks, np.exp(logits[ids == fill_mask.tokenizer.mask_id]), strict=True):
            best = np.argsort(-e)[:3]
            assert [token for token, _ in mask] == [WORDS[index] for index in best]
            np.testing.assert_allclose([score for _, score in mask], e[best] / e.sum(), rtol=1e-5)


def test_top_k(fill_mask):
    (every,) = fill_mask("the [MASK] sat", top_k=999)
    assert sum(score for _, score in every) == pytest.approx(1, rel=1e-5)
    assert fill_mask("the [MASK] sat") == [every[:5]] == fill_mask(["the [MASK] sat"])[0]
    assert fill_mask([]) == []
    with pytest.raises(ValueError, match="top_k is 0, wanted at least 1"):
        fill_mask("[MASK]", top_k=0)


def test_a_text_without_a_mask(fill_mask):
    with pytest.raises(ValueError, match=r"text 2 is 'the cat', wanted a \[MASK\] that is not cut off"):
        fill_mask(["[MASK]", "the cat", "[MASK]"])
    message = r"text 1 is '[a-z ]{60}', wanted a \[MASK\] that is not cut off$"  # not all of it
    with pytest.warns(UserWarning, match="1 of 1 text cut"), pytest.raises(ValueError, match=message):
        fill_mask("cat " * LONGEST + "[MASK]")


def test_texts_in_the_order_of_a_model_of_pairs(tmp_path):
    score, texts = classifier(tmp_path / "one", num_labels=1), ["a dog", "the cat sat", "a dog", "ran"]
    wanted = score([("a cat", text) for text in texts])
    found = score.rerank("a cat", texts)
    assert [hit.score for hit in found] == sorted(wanted, reverse=True)
    assert all(hit.score == wanted[hit.corpus_id] for hit in found)
    places = [hit.corpus_id for hit in found]
    assert places.index(0) + 1 == places.index(2), "of equals the first is first"
    with pytest.raises(ValueError, match="the model has 3 labels, wanted one, the score of a pair of texts"):
        classifier(tmp_path / "three", num_labels=3).rerank("a cat", texts)


NAMES = ("O", "B-PER", "I-PER", "B-LOC", "NN")
TAGS = {"ann": "B-PER", "bob": "I-PER", "rome": "B-LOC", "play": "NN", "##ing": "B-LOC"}


@pytest.fixture
def planted():
    """A tagger that has a tag for each token: of those in TAGS as it is there, of all others O."""
    tokenizer = small_tokenizer("ann bob play ##ing in rome a . ' -")

    def answer(batch):
        logits = np.zeros((*batch.input_ids.shape, len(NAMES)))
        for row, tokens in enumerate(words_of(tokenizer, batch)):
            for place, token in enumerate(tokens):
                logits[row, place, NAMES.index(TAGS.get(token, "O"))] = np.log(4)  # a probability of 4 / 8
        return logits

    def make(names=NAMES, **options):
        model = Planted(tokenizer, answer)
        model.config.label_names = names
        return Tag(model, tokenizer, **options)

    return make


def test_words_are_split_as_the_tokenizer_does_and_have_the_tag_of_their_first_token(planted):
    found = planted(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))("Ann  Bob-Änn's\tplaying in Röme.")
    wanted = "Ann B-PER,Bob I-PER,- O,Änn B-PER,' O,s O,playing I-LOC,in O,Röme B-LOC,. O"
    assert [f"{word.word} {word.tag}" for word in found.words] == wanted.split(",")
    assert [word.start for word in found.words] == [0, 5, 8, 9, 12, 13, 15, 23, 26, 30]
    assert [word.score for word in found.words] == pytest.approx([0.5] * 10)
    assert all(word.end == word.start + len(word.word) for word in found.words)
    assert [entity[:2] + entity[3:] for entity in found.entities] == [
        ("PER", "Ann  Bob", 0, 8),
        ("PER", "Änn", 9, 12),
        ("LOC", "playing", 15, 22),
        ("LOC", "Röme", 26, 30),
    ]


def test_words_that_are_given_stay_whole(planted):
    """a.b is one, though it is three tokens; a zero-width space has no token, and so no tag."""
    words = ["Ann", "Bob-Ann", "\u200b", "a.b", "in", "Rome"]
    (found,) = planted()([words])
    wanted = "Ann B-PER 0,Bob-Ann I-PER 4,a.b O 14,in O 18,Rome B-LOC 21"
    assert [f"{word.word} {word.tag} {word.start}" for word in found.words] == wanted.split(",")
    assert all(" ".join(words)[word.start : word.end] == word.word for word in found.words)


def test_the_score_of_an_entity_is_the_mean_of_its_words(planted):
    tag = planted()
    answer = tag.model.answer
    tag.model.answer = lambda batch: answer(batch) * np.arange(batch.input_ids.shape[1])[:, None]
    found = tag("ann bob")
    assert [word.score for word in found.words] == pytest.approx([4 / 8, 16 / 20])
    assert found.entities[0].score == pytest.approx((4 / 8 + 16 / 20) / 2)


def test_tags_that_follow_no_scheme_make_no_entities(planted):
    found = planted()("ann playing")
    assert ([word.tag for word in found.words], found.entities) == (["B-PER", "NN"], [])
    assert planted()("").words == planted()([[]])[0].words == planted()([]) == []


@pytest.mark.parametrize(("word", "count"), [("ann", 7), ("playing", 4)])
def test_what_is_cut_off_is_said_for_each_text(planted, word, count):
    """[CLS] and [SEP] leave room for 7 tokens; the fourth `playing` is seen by its first token."""
    tag = planted(max_length=9)
    for texts in (["ann ann", " ".join([word] * 9)], [["ann", "ann"], [word] * 9]):
        with pytest.warns(UserWarning, match="1 of 2 texts cut to the 9 tokens that max_length allows"):
            whole, cut = tag(iter(texts))
        assert (len(whole.words), whole.cut, len(cut.words), cut.cut) == (2, 0, count, 9 - count)


@pytest.mark.parametrize("texts", [["a cat", ["a", "cat"]], [["a"], ["a", 7]], [["a"], "cat"]])
def test_texts_that_are_none(planted, texts):
    with pytest.raises(TypeError, match=r"^a text is .*, wanted a list of words$"):
        planted()(texts)
