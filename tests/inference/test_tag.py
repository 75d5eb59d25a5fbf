"""Tag: a tag for every word, where the word stands, and the entities that the tags make."""

import numpy as np
import pytest

from npbert import Tag
from tests.small_tokenizer import small_tokenizer
from tests.training.tasks.tiny import Planted, words_of

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
    assert planted()("").words == planted()([[]])[0].words == []


@pytest.mark.parametrize(("word", "count"), [("ann", 7), ("playing", 4)])
def test_what_is_cut_off_is_said_for_each_text(planted, word, count):
    """[CLS] and [SEP] leave room for 7 tokens; the fourth `playing` is seen by its first token."""
    tag = planted(max_length=9)
    for texts in (["ann ann", " ".join([word] * 9)], [["ann", "ann"], [word] * 9]):
        with pytest.warns(UserWarning, match="1 of 2 texts cut to the 9 tokens that max_length allows"):
            whole, cut = tag(iter(texts))
        assert (len(whole.words), whole.cut, len(cut.words), cut.cut) == (2, 0, count, 9 - count)


def test_one_text_or_many_of_different_lengths(planted):
    tag, texts = planted(), ["Ann in Rome.", "", "playing", "bob"]
    together = tag(texts)
    assert [len(found.words) for found in together] == [4, 0, 1, 1]
    assert together == [tag(text) for text in texts]
    assert type(together[0].words[0].score) is float and tag([]) == []


@pytest.mark.parametrize("texts", [["a cat", ["a", "cat"]], [["a"], ["a", 7]], [["a"], "cat"]])
def test_texts_that_are_none(planted, texts):
    with pytest.raises(TypeError, match=r"text \d is .*, wanted a list of words, as the others are"):
        planted()(texts)
