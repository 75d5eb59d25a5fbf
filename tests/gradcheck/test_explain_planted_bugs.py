"""Every planted bug has a diagnosis, in the part in which it is; and many of them the edit that mends it."""

import pytest

from npbert.gradcheck import check_directions, check_gradients
from tests.planted import PLANTED, WRONG, build, load_all

load_all()

_LARGE = ("Encoder", "Checkpointed", "Bert", "MultiHead")
BROKEN_PROMISE = {"EncoderLayer, dropout: OneMaskForTwoSublayers"}
NAMES = sorted({name for name, (_, says) in PLANTED.items() if says == WRONG} - BROKEN_PROMISE)
SAID = {
    "DotProductAttention, all: kept_of_the_first_head": ("index", "dk, dq, dv"),
    "DotProductAttention, all: rows_mixed_up_in_backward": ("unwrap", "dk"),
    "Softmax, all: averaged_over_the_leading_axis": ("drop factor", "dx"),
    "LayerNorm, all: eps_out_of_the_derivative": ("drop term", "dx"),
    "Embedding, all: last_of_repeated_ids_wins": ("repeated index", "dweight"),
    "Gather, all: last_repeated_row_wins": ("repeated index", "dx"),
    "Gather, all: order_of_reading_lost": ("unwrap", "dx"),
    "BertForPreTraining, model.gather: read_in_vain": ("drop factor", "in model.gather (read_in_vain), dx"),
    "BertForTokenClassification, all: loss_of_each_sequence": ("drop factor", "each of 22 gradients"),
    "SoftmaxCrossEntropy, all: sum_over_the_targets": ("factor", "dlogits"),
    "SoftmaxCrossEntropy, all: dloss_is_ignored": ("factor", "dlogits"),
    "BertEmbeddings, position_embeddings: never_learned": (
        "zero",
        "in position_embeddings (never_learned), dweight",
    ),
    "BertForMaskedLM, model.dropout: dropout_not_undone": ("another", "in model.dropout (dropout_not_undone), dx"),
}
"""Of some: the kind and the subject of the first finding. Those with an edit have a line."""


@pytest.mark.parametrize("name", NAMES)
def test_every_planted_bug_has_a_diagnosis(name):
    twin, _ = PLANTED[name]
    layer, inputs, rng = build(*twin)
    check = check_directions if twin[0].startswith(_LARGE) else check_gradients
    first, *_ = check(layer, *inputs, rng=rng).diagnosis
    part = twin[1]
    assert not part or part in first.subject or "gradients" in first.subject or first.kind == "factor"
    if name in SAID:
        assert (first.kind, first.subject) == SAID[name]
        assert first.line or first.kind in ("zero", "another", "factor")
