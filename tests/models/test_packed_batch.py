"""PackedBatch: which row is which token, whatever is padded, and in whatever order a head reads. Batches that models
with a loss refuse, each time before anything is computed."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npbert import IGNORED, Batch
from npbert.catalogue import CATALOGUE
from npbert.models import PackedBatch, Reads
from tests.models.small import TASKS, batches, each_task, fixed_batch, small_config
from tests.strategies import rngs

NUMBERS = Reads("first", "numbers")
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("u", "") for bits in (8, 16, 32, 64)]


@given(batches())
def test_rows_are_the_real_tokens_one_sequence_after_another_the_short_ones_first(batch):
    packed, length = PackedBatch(batch, small_config()), batch.input_ids.shape[1]
    rows = [(s, t) for s in packed.order for t in np.flatnonzero(batch.attention_mask[s])]
    lengths = batch.attention_mask.sum(axis=1)
    assert packed.shape == batch.input_ids.shape
    assert packed.order.tolist() == sorted(range(len(lengths)), key=lambda s: lengths[s])
    assert packed.order[packed.unsorted].tolist() == list(range(len(lengths)))
    assert packed.places.tolist() == [s * length + t for s, t in rows]
    assert packed.positions.tolist() == [t for _, t in rows]
    assert packed.input_ids.tolist() == [batch.input_ids[row] for row in rows]
    assert packed.token_type_ids.tolist() == [batch.token_type_ids[row] for row in rows]
    assert packed.sequences.lengths.tolist() == sorted(lengths)
    assert packed.where(packed.places[::-1]).tolist() == list(range(len(rows)))[::-1]
    assert packed.positions[packed.first].tolist() == [np.flatnonzero(real)[0] for real in batch.attention_mask]


@pytest.mark.parametrize("tokens", ["first", "labelled", "first and labelled"])
@given(batches(), st.none() | rngs)
@example(Batch([[1, 1], [1, 1]], attention_mask=[[1, 1], [1, 0]], labels=[[IGNORED] * 2, [3, IGNORED]]), None)
def test_what_is_read_is_found_in_the_order_of_the_batch(tokens, batch, rng):
    if rng is not None:
        has_label = (rng.random(batch.input_ids.shape) < 0.5) & (batch.attention_mask == 1)
        batch.labels = np.where(has_label, 3, IGNORED)
    packed, length = PackedBatch(batch, small_config(), Reads(tokens, "word")), batch.input_ids.shape[1]
    first = [s * length + np.flatnonzero(real)[0] for s, real in enumerate(batch.attention_mask)]
    labelled = np.flatnonzero(batch.attention_mask if batch.labels is None else batch.labels != IGNORED).tolist()
    read = {"first": first, "labelled": labelled}.get(tokens, first + labelled)
    computed = packed.places[packed.read_rows]
    assert (np.diff(packed.read_rows) > 0).all()
    assert set(computed) == set(read)
    for wanted, rows in ((first, "first"), (labelled, "labelled")):
        if rows in tokens:
            assert computed[getattr(packed, rows)].tolist() == wanted
    looking = packed.sequences.only(packed.read_rows).query_lengths
    neighbours = list(zip(packed.sequences.lengths, looking, strict=True))
    assert neighbours == sorted(neighbours), "they are as long as each other, and read as often"


@pytest.mark.parametrize("dtype", [*INTEGERS, np.dtype(bool)], ids=str)
def test_a_mask_and_ids_of_any_dtype(dtype):
    batch = fixed_batch()
    ids = batch.input_ids if dtype.kind == "b" else batch.input_ids.astype(dtype)
    packed = PackedBatch(Batch(ids, None, batch.attention_mask.astype(dtype)), small_config())
    assert packed.batch.input_ids.dtype == ids.dtype
    assert packed.places.tolist() == [4, 5, 0, 1, 2, 3]
    assert packed.input_ids.tolist() == [6, 3, 1, 5, 5, 2]


LONG = {"input_ids": [[1] * 6], "token_type_ids": None, "attention_mask": None}
IDS, TYPES = [[1, 5, 9, 2], [6, 3, 0, 0]], [[0, 0, 1, 3], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"input_ids": IDS}, IndexError, r"input_ids\[0, 2\] is 9, wanted 0 to 8, as vocab_size is 9"),
        ({"input_ids": [[1] * 4, [1, 1, -1, 1]]}, IndexError, r"input_ids\[1, 2\] is -1, wanted 0 to 8, as vocab_size"),
        ({"token_type_ids": TYPES}, IndexError, r"token_type_ids\[0, 3\] is 3, wanted 0 to 2, as type_vocab_size"),
        (LONG, ValueError, "the sequences have 6 tokens, wanted at most 5"),
    ],
)
def test_what_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        PackedBatch(fixed_batch(**changes), small_config())


def test_numbers_are_as_many_as_the_labels_of_the_model():
    numbers, config = np.array([[0.5, 1.0], [0.0, -2.0]]), small_config(num_labels=2)
    for labels in (numbers, numbers.astype(int)):
        np.testing.assert_array_equal(PackedBatch(fixed_batch(labels=labels), config, NUMBERS).labels, labels)
    with pytest.raises(ValueError, match=r"^labels has shape \(2,\), wanted \(2, 2\)"):
        _ = PackedBatch(fixed_batch(labels=numbers[:, 0]), config, NUMBERS).labels


@pytest.mark.parametrize("wrong", [{"tokens": "last"}, {"labels": "floats"}])
def test_words_that_say_nothing(wrong):
    ((name, word),) = wrong.items()
    with pytest.raises(ValueError, match=f"^{name} is '{word}', wanted one of (all, first|class, number)"):
        Reads(**wrong)


def test_padding_and_what_is_not_read_are_not_found():
    with pytest.raises(ValueError, match=r"token \[0, 1\] cannot be read: this model reads only first"):
        PackedBatch(fixed_batch(), small_config(), Reads("first")).where(np.array([0, 1]))
    with pytest.raises(ValueError, match=r"token \[1, 2\] cannot be read: it is padding"):
        PackedBatch(fixed_batch(), small_config()).where(np.array([0, 6]))


NONE = np.full((2, 4), IGNORED)
MASKED = [[IGNORED, 4, IGNORED, 2], [6, IGNORED, IGNORED, IGNORED]]
MISSING = "labels is missing, wanted labels for the loss"
NO_INTEGERS = "labels is an array of float64, wanted integers"
OF_WORDS, OF_TOKENS = "pre-training, masked LM", "pre-training, masked LM, token classification"
OF_CLASSES = "classification, multiple choice"
WRONG = [
    ("pre-training", {}, ValueError, "labels is missing, wanted labels and next_sentence_label"),
    ("masked LM, token classification", {}, ValueError, MISSING),
    (OF_TOKENS, {"labels": NONE}, ValueError, "labels has no target: all 8 are -100, wanted at least one class"),
    (OF_TOKENS, {"labels": NONE[:, :3]}, ValueError, r"labels has shape \(2, 3\), wanted \(2, 4\)"),
    (OF_TOKENS, {"labels": NONE * 1.0}, TypeError, NO_INTEGERS),
    (
        OF_TOKENS,
        {"labels": [[1] * 4, [1, 1, 0, 1]]},
        ValueError,
        r"\[1, 2\] is 0, wanted -100, as the token "
        "is padding",
    ),
    (OF_WORDS, {"labels": [[9] * 4, NONE[0]]}, IndexError, r"labels\[0, 0\] is 9, wanted 0 to 8, as vocab_size is 9"),
    (
        "token classification",
        {"labels": [[0, 3, 0, 9], NONE[0]]},
        IndexError,
        r"\[0, 3\] is 9, wanted 0 to 8, "
        "as num_labels",
    ),
    ("pre-training", {"labels": MASKED, "next_sentence_label": None}, ValueError, "next_sentence_label is missing"),
    ("pre-training", {"labels": MASKED, "next_sentence_label": [0, 2]}, IndexError, r"label\[1\] is 2, wanted 0 to 1"),
    ("classification, regression, multiple choice", {}, ValueError, MISSING),
    (OF_CLASSES, {"labels": NONE[:, 0]}, ValueError, "labels has no target: all 2 are -100"),
    (OF_CLASSES, {"labels": [1.0, 2.0]}, TypeError, NO_INTEGERS),
    ("classification, regression", {"labels": [[1], [2]]}, ValueError, r"labels has shape \(2, 1\), wanted \(2,\)"),
    ("classification", {"labels": [1, 5]}, IndexError, r"labels\[1\] is 5, wanted 0 to 4, as num_labels is 5"),
    ("multiple choice", {"labels": NONE[:, :3]}, ValueError, r"labels has shape \(2, 3\), wanted \(2,\)"),
    ("multiple choice", {"labels": [1, 3]}, IndexError, r"labels\[1\] is 3, wanted 0 to 2, as the number of choices"),
]
WRONG_ANSWERS = [  # start_positions, end_positions; the sequences have four tokens and two
    (None, [3, 1], ValueError, "start_positions is missing, wanted start_positions and"),
    ([3, 1], None, ValueError, "end_positions is missing"),
    ([1, IGNORED], [2, 1], ValueError, r"disagree on the sequences without an answer \(-100\)"),
    (NONE[:, 0], NONE[:, 0], ValueError, "start_positions has no target: all 2 are -100"),
    ([1, 1], [4, 1], IndexError, r"end_positions\[0\] is 4, wanted 0 to 3, as the number of tokens"),
    ([1, 1], [3, 2], ValueError, r"end_positions\[1\] is 2, which is padding"),
]
WRONG += [
    ("question answering", {"start_positions": starts, "end_positions": ends}, error, message)
    for starts, ends, error, message in WRONG_ANSWERS
]


def without_layers(name):
    """A model of which nothing can be asked, and a batch for it."""
    loss_of, (batch,), _ = CATALOGUE[name].make()
    loss_of.model.bert.embeddings = loss_of.model.bert.encoder = None
    return loss_of.model, batch


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"), [(name, *row) for names, *row in WRONG for name in names.split(", ")]
)
def test_wrong_targets(name, changes, error, message):
    pairs = {"next_sentence_label": [0, 1]} if name == "pre-training" else {}
    batch = fixed_batch(**{**pairs, **changes})
    if name == "multiple choice":
        arrays = batch.input_ids, batch.token_type_ids, batch.attention_mask
        batch = Batch(*(np.stack([array] * 3, axis=1) for array in arrays), labels=batch.labels)
    model, _ = without_layers(TASKS[name])
    for ask in (model.loss, model.target_counts):
        with pytest.raises(error, match=message):
            ask(batch)


@each_task
def test_wrong_ids_and_batches_of_another_kind(name):
    model, wrong_ids = without_layers(name)
    _, other = without_layers(TASKS["classification" if model.reads.grouped else "multiple choice"])
    wrong_ids.input_ids = wrong_ids.input_ids.copy()  # the catalogue's own
    wrong_ids.input_ids[0, ..., 2] = 9
    shapes = r"\(3, 5\), wanted \(B, C, T\)" if model.reads.grouped else r"\(3, 2, 5\), wanted \(B, T\)"
    for ask in (model, model.loss):
        with pytest.raises(IndexError, match=r"input_ids\[0, 2\] is 9, wanted 0 to 8, as vocab_size is 9"):
            ask(wrong_ids)
    for ask in (model, model.loss, model.target_counts):
        with pytest.raises(ValueError, match=f"input_ids has shape {shapes}"):
            ask(other)
        with pytest.raises(TypeError, match="batch is a list, wanted a Batch"):
            ask([[1, 2]])
