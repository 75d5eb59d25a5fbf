"""Planted bugs are explained, in the part in which they are, most of them by the edit that mends them."""

import pytest

from npbert.gradcheck import check_directions, check_gradients
from tests.planted import PLANTED, build, load_all

load_all()

_LARGE = ("Encoder", "Checkpointed", "Bert", "MultiHead")
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
}
"""The kind and the subject of the first finding. Those with an edit have a line."""


@pytest.mark.parametrize("name", SAID)
def test_a_planted_bug_is_told(name):
    twin, _ = PLANTED[name]
    layer, inputs, rng = build(*twin)
    check = check_directions if twin[0].startswith(_LARGE) else check_gradients
    first, *_ = check(layer, *inputs, rng=rng).diagnosis
    part = twin[1]
    assert not part or part in first.subject or "gradients" in first.subject or first.kind == "factor"
    assert (first.kind, first.subject) == SAID[name]
    assert first.line or first.kind in ("zero", "another", "factor")
