"""PackedBatch: which row is which token, whatever is padded. Batches that models with a loss refuse, before anything is
computed."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from npbert import IGNORED, Batch
from npbert.catalogue import CATALOGUE
from npbert.models import PackedBatch, Reads
from tests.models.small import TASKS, batches, each_task, fixed_batch, small_config
from tests.strategies import rngs


@pytest.mark.parametrize("tokens", ["all", "first", "labelled", "first and labelled"])
@given(batches(), st.none() | rngs)
@example(Batch([[1, 1], [1, 1]], attention_mask=[[1, 1], [1, 0]], labels=[[IGNORED] * 2, [3, IGNORED]]), None)
def test_rows_are_the_real_tokens_the_short_sequences_first_and_what_is_read_is_found(tokens, batch, rng):
    if rng is not None:
        has_label = (rng.random(batch.input_ids.shape) < 0.5) & (batch.attention_mask == 1)
        batch.labels = np.where(has_label, 3, IGNORED)
    packed, length = PackedBatch(batch, small_config(), Reads(tokens, "word")), batch.input_ids.shape[1]
    rows = [(s, t) for s in packed.order for t in np.flatnonzero(batch.attention_mask[s])]
    lengths = batch.attention_mask.sum(axis=1)
    assert packed.order[packed.unsorted].tolist() == list(range(len(lengths)))
    assert packed.places.tolist() == [s * length + t for s, t in rows]
    assert packed.positions.tolist() == [t for _, t in rows]
    assert packed.token_type_ids.tolist() == [batch.token_type_ids[row] for row in rows]

    first = [s * length + np.flatnonzero(real)[0] for s, real in enumerate(batch.attention_mask)]
    labelled = np.flatnonzero(batch.attention_mask if batch.labels is None else batch.labels != IGNORED).tolist()
    read = {"first": first, "labelled": labelled, "all": packed.places}.get(tokens, first + labelled)
    read_rows = np.arange(len(rows)) if packed.read_rows is None else packed.read_rows
    computed = packed.places[read_rows]
    assert set(computed) == set(read) and (np.diff(read_rows) > 0).all()
    for wanted, name in ((first, "first"), (labelled, "labelled")):
        if name in tokens or tokens == "all":
            assert computed[getattr(packed, name)].tolist() == wanted
    looking = packed.sequences.only(read_rows).query_lengths
    neighbours = list(zip(packed.sequences.lengths, looking, strict=True))
    assert neighbours == sorted(neighbours), "they are as long as each other, and read as often"


def test_numbers_are_as_many_as_the_labels_of_the_model():
    numbers, config, reads = np.array([[0.5, 1.0], [0.0, -2.0]]), small_config(num_labels=2), Reads("first", "numbers")
    np.testing.assert_array_equal(PackedBatch(fixed_batch(labels=numbers), config, reads).labels, numbers)
    with pytest.raises(ValueError, match=r"^labels has shape \(2,\), wanted \(2, 2\)"):
        _ = PackedBatch(fixed_batch(labels=numbers[:, 0]), config, reads).labels
    with pytest.raises(ValueError, match="tokens is 'last', wanted"):
        Reads("last")


def test_a_model_with_one_type_reads_no_types():
    assert not PackedBatch(fixed_batch(), small_config(type_vocab_size=1)).token_type_ids.any()


NONE = np.full((2, 4), IGNORED)
OF_TOKENS = "masked LM, token classification"
WORDS = [[IGNORED, 4, IGNORED, 2], [6, IGNORED, IGNORED, IGNORED]]
TYPES = [[0, 0, 1, 3], [0, 1, 0, 0]]
WRONG = [
    ("classification", {"token_type_ids": TYPES}, r"token_type_ids\[0, 3\] is 3, wanted 0 to 1, as type_vocab_size"),
    ("pre-training, masked LM, regression", {}, "labels is missing, wanted"),
    (OF_TOKENS, {"labels": NONE}, "labels has no target: all 8 are -100, wanted at least one class"),
    (OF_TOKENS, {"labels": NONE[:, :3]}, r"labels has shape \(2, 3\), wanted \(2, 4\)"),
    (OF_TOKENS, {"labels": [[1] * 4, [1, 1, 0, 1]]}, r"\[1, 2\] is 0, wanted -100, as the token is padding"),
    ("masked LM", {"labels": [[9] * 4, NONE[0]]}, r"labels\[0, 0\] is 9, wanted 0 to 8, as vocab_size is 9"),
    ("token classification", {"labels": [[0, 3, 0, 9], NONE[0]]}, r"\[0, 3\] is 9, wanted 0 to 8, as num_labels"),
    ("pre-training", {"labels": WORDS, "next_sentence_label": None}, "next_sentence_label is missing"),
    ("pre-training", {"labels": WORDS, "next_sentence_label": [0, 2]}, r"label\[1\] is 2, wanted 0 to 1"),
    ("classification", {"labels": [1.0, 2.0]}, "labels is an array of float64, wanted integers"),
    ("classification, regression", {"labels": [[1], [2]]}, r"labels has shape \(2, 1\), wanted \(2,\)"),
    ("classification", {"labels": [1, 5]}, r"labels\[1\] is 5, wanted 0 to 4, as num_labels is 5"),
    ("multiple choice", {"labels": [1, 3]}, r"labels\[1\] is 3, wanted 0 to 2, as the number of choices"),
]
WRONG_ANSWERS = [  # start_positions, end_positions; the sequences have four tokens and two
    (None, [3, 1], "start_positions is missing, wanted start_positions"),
    ([1, IGNORED], [2, 1], r"disagree on the sequences without an answer \(-100\)"),
    ([1, 1], [4, 1], r"end_positions\[0\] is 4, wanted 0 to 3, as the number of tokens"),
    ([1, 1], [3, 2], r"end_positions\[1\] is 2, which is padding"),
]
WRONG += [
    ("question answering", {"start_positions": starts, "end_positions": ends}, message)
    for starts, ends, message in WRONG_ANSWERS
]


def without_layers(name):
    """A model of which nothing can be asked."""
    loss_of, *_ = CATALOGUE[name].make()
    loss_of.model.bert.embeddings = loss_of.model.bert.encoder = None
    return loss_of.model


@pytest.mark.parametrize(
    ("name", "changes", "message"), [(name, *row) for names, *row in WRONG for name in names.split(", ")]
)
def test_wrong_targets(name, changes, message):
    batch = fixed_batch(**{"next_sentence_label": [0, 1], **changes})
    if name == "multiple choice":
        arrays = batch.input_ids, batch.token_type_ids, batch.attention_mask
        batch = Batch(*(np.stack([array] * 3, axis=1) for array in arrays), labels=batch.labels)
    model = without_layers(TASKS[name])
    for ask in (model.loss, model.target_counts):
        with pytest.raises((ValueError, TypeError, IndexError), match=message):
            ask(batch)


@each_task
def test_wrong_ids_and_batches_of_another_kind(name):
    model = without_layers(name)
    flat, groups = Batch([[1] * 5]), Batch([[[1] * 5] * 2])
    right, other = (groups, flat) if model.reads.grouped else (flat, groups)
    shapes = r"\(1, 5\), wanted \(B, C, T\)" if model.reads.grouped else r"\(1, 2, 5\), wanted \(B, T\)"
    refused = [
        (Batch(right.input_ids + 8), IndexError, r"input_ids\[0, 0(, 0)?\] is 9, wanted 0 to 8, as vocab_size is 9"),
        (Batch(np.repeat(right.input_ids, 2, axis=-1)), ValueError, "10 tokens, wanted at"),
        (other, ValueError, f"input_ids has shape {shapes}"),
        ([[1, 2]], TypeError, "batch is a list, wanted a Batch"),
    ]
    for batch, error, message in refused:
        for ask in (model, model.loss, model.target_counts):
            with pytest.raises(error, match=message):
                ask(batch)
