"""PretrainingData: the same seed gives the same batches, from any place on; every label is true.

Each word of the corpus says of which document and sentence it is: d2s13t0 is the first word of sentence 13 of document
2. What a batch hides is in its labels, so its text can be read and looked up.
"""

from itertools import pairwise

import numpy as np
import pytest

from npbert import IGNORED
from npbert.data import join_pair
from npbert.data.corpus import Corpus
from npbert.data.training_data import PretrainingData
from tests.small_tokenizer import small_tokenizer

DOCUMENTS = [
    [[f"d{d}s{s}t{t}" for t in range(1 + (7 * d + 3 * s) % 4)] for s in range(size)]
    for d, size in enumerate([40, 30, 50, 1])
]
PLACES = {
    word: (number, place)
    for number, sentences in enumerate(DOCUMENTS)
    for place, word in enumerate(word for sentence in sentences for word in sentence)
}


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer(" ".join(PLACES))


@pytest.fixture
def make(tmp_path, tokenizer, monkeypatch):
    """Data from the documents, in pieces of some 12 sentences."""

    def make(documents=DOCUMENTS, *, piece_bytes=200, pieces_at_once=3, **options):
        monkeypatch.setattr("npbert.data.corpus.PIECE_BYTES", piece_bytes)
        monkeypatch.setattr("npbert.data.training_data.PIECES_AT_ONCE", pieces_at_once)
        path = tmp_path / "corpus.txt"
        path.write_text("\n".join("".join(" ".join(s) + "\n" for s in sentences) for sentences in documents))
        return PretrainingData(Corpus([path]), tokenizer, **{"batch_size": 4, "max_length": 24, **options})

    return make


def arrays(batches):
    """All that two runs must have in common, bit by bit."""
    fields = ("input_ids", "token_type_ids", "attention_mask", "labels", "next_sentence_label")
    return [(place, *(getattr(batch, name).tolist() for name in fields)) for place, batch in batches]


def sequences(data, seeds=(0,)):
    """The first and the second text of every sequence of some epochs, unmasked, its label, the number of its group."""
    decode = data.tokenizer.decode
    for place, batch in (row for seed in seeds for row in data.batches(seed)):
        unmasked = np.where(batch.labels == IGNORED, batch.input_ids, batch.labels)
        for row, label in enumerate(batch.next_sentence_label.tolist()):
            is_real = batch.attention_mask[row] == 1
            ids, types = unmasked[row][is_real].tolist(), batch.token_type_ids[row][is_real].tolist()
            first, second = ids[1 : types.count(0) - 1], ids[types.count(0) : -1] or None
            whole = join_pair(first, second, data.tokenizer)
            assert (ids, types) == (whole.input_ids, whole.token_type_ids)
            yield decode(first), second and decode(second), label, place.group


def is_next(first, second):
    (document, end), (other, start) = PLACES[first[-1]], PLACES[second[0]]
    return document == other and start == end + 1


def test_the_seed_says_all_and_every_epoch_is_packed_anew(make):
    data = make()
    assert arrays(data.batches(5)) == arrays(data.batches(5)) == arrays(make().batches(5)) != arrays(data.batches(6))
    same = make([[["d0s0t0"] * 20]] * 9, objective="none", batch_size=1, pieces_at_once=9)
    masks = [tuple(batch.labels[0] != IGNORED) for _, batch in same.batches(0)]
    assert len(set(masks)) > len(masks) / 2, "each batch is masked anew"
    data = make(DOCUMENTS[:1], piece_bytes=10**6)
    starts = [PLACES[first[0]] for first, *_ in sequences(data)]
    assert starts != sorted(starts), "the sequences of a piece are not in its order"


def test_from_any_place_on_as_if_never_stopped(make):
    """Each group cuts its sequences into batches of four; only its last may be smaller."""
    data = make()
    whole = arrays(data.batches(5))
    assert len({place.group for place, *_ in whole}) > 2
    for (place, ids, *_), (following, *_) in pairwise(whole):
        assert len(ids) == 4 or following.batch == 0
        assert following in ((place.group, place.batch + 1), (place.group + 1, 0))
    for number, (place, *_) in enumerate(whole):
        after = place._replace(batch=place.batch + 1)
        assert arrays(data.batches(5, after)) == whole[number + 1 :], "also from behind the last of a group"


@pytest.mark.parametrize("pieces_at_once", [1, 3, 64])
def test_next_sentence_labels_are_true(make, pieces_at_once):
    """A text that does not follow is of any other document, also when the group holds one document alone."""
    data, labels, drawn = make(pieces_at_once=pieces_at_once), [], set()
    for first, second, label, _ in sequences(data, range(12)):
        labels.append(label)
        documents = PLACES[first[0]][0], PLACES[second[0]][0]
        if label == 1:
            drawn.add(documents)
        else:
            assert documents[0] == documents[1]
            assert PLACES[first[-1]] < PLACES[second[0]]
            assert is_next(first, second) or len(first) + len(second) == 21, "a gap was cut"
    assert drawn == {(a, b) for a in range(4) for b in range(4) if a != b}
    assert 0.35 < np.mean(labels) < 0.7


def test_as_many_words_are_masked_as_asked_for(make):
    for _, batch in make(mask_probability=0.5).batches(0):
        counts = (batch.labels != IGNORED).sum(axis=1).tolist()
        assert counts == [max(1, round(0.5 * size)) for size in batch.attention_mask.sum(axis=1)]


@pytest.mark.parametrize("objective", ["nsp", "sop", "none"])
def test_text_of_unknown_words_is_left_out(make, objective):
    """There is nothing to mask in it; beside words that are known, it stays."""
    nothing = [["\x00"]] * 9  # for a tokenizer
    data = make([[["☃", "☃"]] * 9, nothing, *DOCUMENTS[:1], nothing], objective=objective, piece_bytes=9)
    pairs = [(first, second or []) for first, second, *_ in sequences(data, range(5))]
    assert objective != "nsp" or any(set(first) == {"[UNK]"} for first, _ in pairs)
    assert len(pairs) > 5
    assert all({*first, *second} - {"[UNK]"} for first, second in pairs)
    assert list(make([[["☃"]]], objective=objective).batches(0)) == []
