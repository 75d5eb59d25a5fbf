"""The first line of what is said of every planted bug: the thing that is wrong, and in which part it is."""

import pkgutil
from importlib import import_module

import pytest

from npbert.gradcheck import check_directions, check_gradients
from tests import planted
from tests.planted import PLANTED, WRONG, build

for module in pkgutil.iter_modules(planted.__path__):
    import_module(f"{planted.__name__}.{module.name}")

_LARGE = ("Encoder", "Checkpointed", "Bert", "MultiHead")
NEEDED = "a reshape stands where a transposition is needed"
CUT_SHORT = "dx = 1 · Φ(x) + 0 · x φ(x)"
LAST = "dx is what comes out when only the last time counts that a row is read"
OTHER_ROWS = "the rows of dx are rows of dy, but not the right ones: row 0 is dy[0, 0], where dy[1, 0] is right"
SORTED = "dx is what comes out when the numbers of the rows are sorted first"
EMPTY = "dx is 0 everywhere, though y moves with x"
TABLE_EMPTY = "dtable is 0 everywhere, though y moves with table"
NOTHING_LEARNED = "dweight is 0 everywhere, though y moves with weight"
NO_KEY = "dz = 0 · through key + 1 · through value"
SAID = {
    "DotProductAttention, all: key_gradient_reshaped": (
        "order",
        f"dk has the right numbers, but in each head (2 heads of 3 columns) of each sequence {NEEDED}",
    ),
    "MultiHeadAttention, dot_product: scores_not_transposed": (
        "product",
        "in dot_product (scores_not_transposed), dk is dS · q, where dSᵀ · q is right",
    ),
    "DotProductAttention, all: averaged_over_the_piece": ("place", "dq is right but for the rows 2, 3 (counted from 0"),
    "MultiHeadAttention, dot_product: query_taken_for_key": ("product", "dq is dS · q, where dS · k is right"),
    "MultiHeadAttention, dot_product: key_taken_for_value": ("example", "in dot_product (key_taken_for_value), dk is"),
    "DotProductAttention, all: kept_of_the_first_head": ("example", "dk is wrong, for example at k["),
    "DotProductAttention, all: scale_forgotten_in_dq": (
        "factor",
        "dq is 1.732 times too large, everywhere: that is a factor of √3, and 3 is the number of columns of a head",
    ),
    "DotProductAttention, all: rows_mixed_up_in_backward": ("order", "dk has the right numbers, but its rows are shif"),
    "EncoderLayer, attention: keys_never_learn": ("ledger", f"in attention (keys_never_learn), {NO_KEY}"),
    "MultiHeadAttention, all: keys_never_learn": ("ledger", NO_KEY),
    "Checkpointed, all: other_dropout_the_second_time": (
        "dropout",
        "without dropout backward is right: what is wrong has to do with dropout",
    ),
    "EncoderLayer, some rows look, all: residual_lost": (
        "ledger",
        "what attention_norm.backward is given = 1 · through feed_forward + 0 · past feed_forward: "
        '"past feed_forward" is missing',
    ),
    "EncoderLayer, all: residual_is_dropped_too": (
        "ledger",
        'in what attention_norm.backward is given, "past feed_forward" is what dropout.backward returns the first '
        "time, and should be what output_norm.backward returns",
    ),
    "EncoderLayer, all: sublayer_is_not_dropped": (
        "another",
        "what feed_forward.backward is given is what output_norm.backward returns, and should be what dropout.backward",
    ),
    "GELU, all: slope_of_the_tanh_form": (
        "slope",
        "dx is dy · (the slope of GELU's tanh form), where dy · (Φ(x) + x φ(x))",
    ),
    "TanhGELU, all: slope_of_the_erf_form": (
        "slope",
        "dx is dy · (Φ(x) + x φ(x)), where dy · (the slope of GELU's tanh form)",
    ),
    "FeedForward, gelu, activation: product_rule_cut_short": (
        "ledger",
        f"in activation (product_rule_cut_short), {CUT_SHORT}",
    ),
    "GELU, all: product_rule_cut_short": ("ledger", CUT_SHORT),
    "TanhGELU, all: product_rule_of_the_tanh_form_cut_short": (
        "ledger",
        "dx = 1 · x as the factor (dy · y / x) + 0 · x inside the other factor",
    ),
    "Softmax, all: averaged_over_the_leading_axis": (
        "factor",
        "8.000 times too small, everywhere: 8 is the number of r",
    ),
    "Dropout, all: backward_scaled_by_one_over_p": ("factor", "p is 0.3, as if p and 1 − p were mixed up"),
    "BertForMultipleChoice, model.dropout: dropout_not_undone": (
        "formula",
        "in model.dropout (dropout_not_undone), dx is dy",
    ),
    "BertForTokenClassification, model.dropout: dropout_not_undone": ("formula", "dx is dy itself"),
    "BertForSequenceClassification, model.dropout: dropout_not_undone": ("formula", "dx is dy itself"),
    "BertForSequenceClassification, regression, model.dropout: dropout_not_undone": ("formula", "dx is dy itself"),
    "LayerNorm, all: gamma_out_of_the_sums": ("formula", "dx is what comes out when γ stands outside of the means"),
    "LayerNorm, all: eps_out_of_the_derivative": (
        "known factor",
        "as if it was divided by the σ of each row of x (without eps), not by σ",
    ),
    "BertModel, all: pooled_overwrites_hidden": (
        "place",
        "what encoder.backward is given is right but for the rows 0, 2",
    ),
    "BertForTokenClassification, all: loss_of_each_sequence": (
        "factor",
        "every derivative is 3.000 times too large, everywhere: 3 is the number of rows of input_ids",
    ),
    "BertForQuestionAnswering, all: start_and_end_swapped": (
        "order",
        "what unpack.backward is given has the right numbers, but its slices of axis 2 are in the reverse order",
    ),
    "BertForQuestionAnswering, all: scores_reshaped": ("order", f"and then reshaped to (3, 5, 2): {NEEDED}"),
    "BertForQuestionAnswering, all: two_losses_added": (
        "factor",
        "every derivative is 2.000 times too large, everywhere",
    ),
    "BertForMultipleChoice, all: choices_in_another_order": (
        "order",
        "what classifier.backward is given has the right numbers, but its rows are in another order",
    ),
    "Embedding, all: last_of_repeated_ids_wins": ("formula", LAST.replace("dx", "dweight")),
    "BertForPreTraining, model.bert.embeddings.word_embeddings: never_learned": ("zero", NOTHING_LEARNED),
    "BertEmbeddings, token_type_embeddings: never_learned": ("zero", NOTHING_LEARNED),
    "BertEmbeddings, position_embeddings: never_learned": ("zero", NOTHING_LEARNED),
    "Encoder, some rows read, gather: last_repeated_row_wins": ("formula", LAST),
    "Gather, all: last_repeated_row_wins": ("formula", LAST),
    "BertForPreTraining, model.gather: order_of_reading_lost": ("formula", SORTED),
    "Gather, all: order_of_reading_lost": ("formula", SORTED),
    "BertForMaskedLM, model.gather: scattered_from_the_first_row": ("formula", "dx is dy itself"),
    "BertForPreTraining, model.bert.gather: read_in_vain": ("zero", EMPTY),
    "BertForPreTraining, model.gather: read_in_vain": ("zero", EMPTY),
    "BertModel, gather: every_row_is_pooled": ("place", "the rows that rows does not name: it should be 0 there"),
    "BertForTokenClassification, model.unpack: taken_from_the_first_places": ("rows", OTHER_ROWS),
    "BertForQuestionAnswering, model.unpack: taken_from_the_first_places": ("rows", OTHER_ROWS),
    "Unpack, all: taken_from_the_first_places": ("rows", OTHER_ROWS),
    "MeanPooling, all: divided_by_the_longest": (
        "place",
        "dx is right but for the rows 4, 5, 6, 7 (counted from 0): the",
    ),
    "MeanPooling, all: rows_of_the_neighbour_learn": ("place", "dx is right but for the rows 2, 3, 4, 5"),
    "BertForPreTraining, model.predictions: decoder_forgets_the_table": ("zero", f"), {TABLE_EMPTY}"),
    "BertForMaskedLM, model.predictions: decoder_forgets_the_table": ("zero", f"), {TABLE_EMPTY}"),
    "MaskedLMHead, all: decoder_forgets_the_table": ("zero", TABLE_EMPTY),
    "SoftmaxCrossEntropy, all: sum_over_the_targets": (
        "factor",
        "dlogits is 5.000 times too large, everywhere: 5 is the number of labels that are not ignored, as if a sum",
    ),
    "BertForTokenClassification, model.loss_function: divided_by_all_rows": (
        "factor",
        "that is a factor of 5/15, as if it was divided",
    ),
    "SoftmaxCrossEntropy, all: divided_by_all_rows": (
        "factor",
        "that is a factor of 5/8, as if it was divided by the number of rows",
    ),
    "BertForSequenceClassification, model.loss_function: dloss_is_ignored": (
        "linear",
        "is the same for any dy: by the chain rule",
    ),
    "BertForQuestionAnswering, model.loss_function: dloss_is_ignored": (
        "factor",
        "dy is 0.1026, as if it was left out",
    ),
    "SoftmaxCrossEntropy, all: dloss_is_ignored": ("linear", "is the same for any dy"),
    "BertForSequenceClassification, regression, model.loss_function: squares_without_their_factor": (
        "factor",
        "as if the 2/3 of a mean of squares was left out",
    ),
    "MeanSquaredError, all: squares_without_their_factor": (
        "factor",
        "as if the 2/48 of a mean of squares was left out",
    ),
    "BertForSequenceClassification, regression, model.loss_function: gradient_of_the_targets": (
        "factor",
        "every gradient has the wrong sign, everywhere",
    ),
    "BertForMultipleChoice, model.loss_function: ChoicesOfAllQuestionsCompete": (
        "terms",
        "dlogits is softmax(scores, axis=0) · dloss/n − onehot · dloss/n: ",
    ),
}
"""Of each twin whose derivative is wrong: the kind of the first finding, and what it says."""


def test_every_planted_bug_is_in_the_table():
    broken_promise = {"EncoderLayer, dropout: OneMaskForTwoSublayers"}
    assert set(SAID) == {name for name, (_, says) in PLANTED.items() if says == WRONG} - broken_promise


@pytest.mark.parametrize("name", SAID)
def test_the_first_line_says_what_is_wrong(name):
    kind, says = SAID[name]
    twin, _ = PLANTED[name]
    layer, inputs, rng = build(*twin)
    check = check_directions if twin[0].startswith(_LARGE) else check_gradients
    report = check(layer, *inputs, rng=rng)
    first = report.diagnosis[0]
    assert first.what == kind
    assert says in first.text
    assert str(report).startswith(f"WRONG: {first.text}")
