"""Wrong gradients that shipped elsewhere, planted one by one: the checks must reject every one of them.

Each twin differs from the right layer by one mistake, and meets the same inputs, on which the right layer is believed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from npbert.data import collate
from npbert.gradcheck import GradientError, Report
from npbert.layers import (
    Dropout,
    Embedding,
    Encoder,
    LayerNorm,
    MeanPooling,
    MultiHeadAttention,
    SoftmaxCrossEntropy,
    blockwise,
)
from npbert.models import BertForPreTraining, BertForTokenClassification
from npbert.optim import Adam, clip_by_global_norm
from tests.planted import (
    attention,
    checks,
    contracts,
    elementwise,
    embeddings,
    encoder,
    heads,
    layer_norm,
    losses,
    models,
    optim,
)
from tests.planted import settings as right
from tests.planted.attention import attending_by
from tests.planted.blocks import cut_without_the_rest
from tests.planted.settings import Setting

WRONG = "WRONG"
CHANGES, SETS, RETURNS = "changes the value", "sets the gradient", "returns 0 gradients"
OUTPUT, READ_ONLY, SHARES = "changes the output", "read-only", "share memory"

# name: the right layer and its inputs, the planted twin, and what the check says of it
DERIVATIVES: dict[str, tuple[Setting, type[Any], str]] = {
    "layer_norm: γ taken out of the sums": (right.LAYER_NORM, layer_norm.GammaOutOfTheSums, WRONG),
    "layer_norm: eps left out of the derivative": (right.LAYER_NORM, layer_norm.EpsOutOfTheDerivative, WRONG),
    "layer_norm: γ updated before it is used": (right.LAYER_NORM, layer_norm.GammaUpdatedTooEarly, CHANGES),
    "attention: dK reshaped, not transposed": (right.ATTENTION, attending_by(attention.KeyGradientReshaped), WRONG),
    "attention: dK from scores that are not transposed": (
        right.ATTENTION,
        attending_by(attention.ScoresNotTransposed),
        WRONG,
    ),
    "attention: query taken for key": (right.ATTENTION, attending_by(attention.QueryTakenForKey), WRONG),
    "attention: key taken for value": (right.ATTENTION, attending_by(attention.KeyTakenForValue), WRONG),
    "attention: softmax divided by the leading axis": (
        right.ATTENTION,
        attending_by(attention.ScoresAveragedOverTheBatch),
        WRONG,
    ),
    "attention: fully padded row is NaN": (right.ATTENTION, attending_by(attention.MaskOfInfinities), WRONG),
    "attention: dQ without 1/√d": (right.ATTENTION, attending_by(attention.QueriesLeftUnscaled), WRONG),
    "attention: dropout mask of the first head": (right.ATTENTION, attending_by(attention.KeptOfTheFirstHead), WRONG),
    "attention: rows mixed up in backward": (right.ATTENTION_OF_SOME_ROWS, attention.PaddingMixedUp, WRONG),
    "encoder layer: residual gradient of the queries lost": (
        right.ENCODER_LAYER_OF_SOME_ROWS,
        encoder.ResidualOfQueriesLost,
        WRONG,
    ),
    "encoder: last read of a row wins": (right.ENCODER, encoder.LastReadOfARowWins, WRONG),
    "encoder: order of reading lost": (right.ENCODER, encoder.OrderOfReadingLost, WRONG),
    "add & norm: residual dropped too": (right.ADD_NORM, encoder.ResidualIsDroppedToo, WRONG),
    "add & norm: sub-layer not dropped": (right.ADD_NORM, encoder.SublayerIsNotDropped, WRONG),
    "softmax: divided by the leading axis": (right.SOFTMAX, attention.SoftmaxOverTheBatch, WRONG),
    "cross_entropy: T times too large": (right.CROSS_ENTROPY, losses.DividedByBatch, WRONG),
    "cross_entropy: batch times too large": (right.CROSS_ENTROPY, losses.DividedByTokens, WRONG),
    "cross_entropy: padding counted in backward": (right.CROSS_ENTROPY, losses.DividedByAllPositions, WRONG),
    "embedding: repeated ids overwrite": (right.EMBEDDING, embeddings.LastOfRepeatedIdsWins, WRONG),
    "embeddings: positions never get a gradient": (right.EMBEDDINGS, embeddings.PositionsNeverLearned, WRONG),
    "embeddings: segments never get a gradient": (right.EMBEDDINGS, embeddings.SegmentsNeverLearned, WRONG),
    "tied table: decoder's part lost": (right.MASKED_LM_HEAD, embeddings.DecoderForgetsTheTable, WRONG),
    "tied table: decoder sets it": (right.MASKED_LM_HEAD, embeddings.DecoderSetsTheTable, SETS),
    "tied table: decoder's part lost, in a model": (right.PRETRAINING, models.TableLearnsFromTheInputOnly, WRONG),
    "tied table: embedding's part lost, in a model": (right.PRETRAINING, models.TableLearnsFromTheOutputOnly, WRONG),
    "pooler: gradient to every position": (right.POOLER, embeddings.EveryPositionIsPooled, WRONG),
    "pooler: gradient lost beside what is read": (
        right.MODEL_OF_SOME_POSITIONS,
        models.PooledLostBesideWhatIsRead,
        WRONG,
    ),
    "pooler: gradient of what is read lost": (right.MODEL_OF_SOME_POSITIONS, models.ReadLostBesideThePooled, WRONG),
    "pooler: gradient overwrites that of the hidden state": (right.MODEL, models.PooledOverwritesHidden, WRONG),
    "gather: repeated rows overwrite": (right.GATHER, embeddings.LastRepeatedRowWins, WRONG),
    "dropout: one mask for two sub-layers": (right.ENCODER_LAYER, encoder.OneMaskForTwoSublayers, WRONG),
    "dropout: backward scaled by 1/p": (right.DROPOUT, elementwise.BackwardScaledByOneOverP, WRONG),
    "dropout: backward without return": (right.DROPOUT, elementwise.ReturnForgotten, RETURNS),
    "gelu: derivative of the tanh form": (right.ERF_GELU, elementwise.DerivativeOfTheTanhForm, WRONG),
    "gelu: product rule cut short": (right.ERF_GELU, elementwise.ProductRuleCutShort, WRONG),
    "tanh_gelu: product rule cut short": (right.TANH_GELU, elementwise.ProductRuleOfTheTanhFormCutShort, WRONG),
    "tanh_gelu: derivative of the erf form": (right.TANH_GELU, elementwise.DerivativeOfTheErfForm, WRONG),
    "contract: gradients assigned": (right.LINEAR, contracts.Assigns, SETS),
    "contract: gradients rebound": (right.LINEAR, contracts.Rebinds, SETS),
    "contract: gradients overwritten": (right.LINEAR, contracts.Overwrites, SETS),
    "contract: input changed in place": (right.LAYER_NORM, contracts.CentresTheCallersInput, READ_ONLY),
    "contract: dy changed in place": (right.TANH, contracts.WritesInDy, READ_ONLY),
    "masked LM: decoder's part of the table lost": (
        right.MASKED_LM,
        heads.TableOfMaskedLMLearnsFromTheInputOnly,
        WRONG,
    ),
    "masked LM: gradient to the first positions": (right.MASKED_LM, heads.LogitsScatteredFromTheFirstPosition, WRONG),
    "question answering: start and end swapped": (right.QUESTION_ANSWERING, heads.StartAndEndSwapped, WRONG),
    "question answering: scores reshaped": (right.QUESTION_ANSWERING, heads.ScoresReshaped, WRONG),
    "question answering: losses added": (right.QUESTION_ANSWERING, heads.TwoLossesAdded, WRONG),
    "multiple choice: choices in another order": (right.MULTIPLE_CHOICE, heads.ChoicesInAnotherOrder, WRONG),
    "multiple choice: softmax over the questions": (right.MULTIPLE_CHOICE, heads.ChoicesOfAllQuestionsCompete, WRONG),
    "token classification: padding counted in backward": (right.TOKEN_CLASSIFICATION, heads.PaddingIsDividedBy, WRONG),
    "regression: 2/N forgotten": (right.REGRESSION, heads.SquaredErrorWithoutItsFactor, WRONG),
    "regression: gradient of the targets": (right.REGRESSION, heads.GradientOfTheTargets, WRONG),
    "mean pooling: divided by T": (right.MEAN_POOLING, heads.EveryTokenCounts, WRONG),
    "mean pooling: padding learns": (right.MEAN_POOLING, heads.PaddingLearns, WRONG),
    "second call's cache: model": (right.PRETRAINING, models.KeepsItsCache, WRONG),
    "contract: output changed in place": (right.TANH, contracts.WritesInItsOutput, OUTPUT),
    "contract: batch changed in place": (right.PRETRAINING, models.RewritesTheLabels, READ_ONLY),
    "contract: a table under two parameters": (right.PRETRAINING, models.TableIsTwoParameters, SHARES),
} | {
    f"second call's cache: {name}": (setting, contracts.remembering(setting.right), WRONG)
    for name, setting in {
        "mean pooling": right.MEAN_POOLING,
        "linear": right.LINEAR,
        "attention": right.ATTENTION,
        "softmax": right.SOFTMAX,
        "layer_norm": right.LAYER_NORM,
        "dropout": right.DROPOUT,
        "embedding": right.EMBEDDING,
        "embeddings": right.EMBEDDINGS,
        "gather": right.GATHER,
        "cross_entropy": right.CROSS_ENTROPY,
        "squared error": right.SQUARED_ERROR,
    }.items()
}

DERIVATIVES |= {
    f"{mistake.__name__.replace('_', ' ')}: {name}": (setting, mistake(setting.right), WRONG)
    for mistake, names in {
        heads.forgetting_dropout: ("classification", "regression", "multiple choice", "token classification"),
        heads.ignoring_dloss: ("classification", "question answering"),
    }.items()
    for name in names
    for setting in [getattr(right, name.replace(" ", "_").upper())]
}

# name: the check, what it must accept, and what it must reject
BEHAVIOUR: dict[str, tuple[Callable[[Any], None], Any, Any]] = {
    "layer_norm: no eps": (checks.constant_row_is_finite, LayerNorm, layer_norm.NoEps),
    "attention: pad mask inverted": (checks.padding_has_no_say, MultiHeadAttention, attention.MaskInverted),
    "attention: fully padded row is NaN": (
        checks.padded_row_is_finite,
        MultiHeadAttention,
        attending_by(attention.MaskOfInfinities),
    ),
    "encoder: rows mixed up": (checks.rows_are_those_of_the_whole, Encoder, encoder.LayersMixUpRows),
    "blockwise: last rows lost": (checks.blocks_cover_all_rows, blockwise.cut, cut_without_the_rest),
    "attention: float32 turned to float64": (
        checks.float32_stays_float32,
        MultiHeadAttention,
        attending_by(attention.ScaleInFloat64),
    ),
    "cross_entropy: ignored label is an index": (
        checks.ignored_rows_have_no_say,
        SoftmaxCrossEntropy(),
        losses.IgnoredIsAnIndex(),
    ),
    "cross_entropy: ignored rows counted": (
        checks.ignored_rows_have_no_say,
        SoftmaxCrossEntropy(),
        losses.PaddingIsCounted(),
    ),
    "batch: padding is a target": (checks.padding_is_no_target, collate, losses.collate_with_targets_on_padding),
    "token classification: padding counted": (
        checks.padding_has_no_say_in_the_loss,
        BertForTokenClassification,
        heads.PaddingWatersDownTheLoss,
    ),
    "token classification: padding is a target": (
        checks.padding_has_no_say_in_the_loss,
        BertForTokenClassification,
        heads.PaddingIsATarget,
    ),
    "mean pooling: padding counted": (checks.padding_is_not_pooled, MeanPooling, heads.PaddingIsPooled),
    "embedding: id -1 reads the last row": (checks.bad_ids_are_refused, Embedding, embeddings.IdsNotChecked),
    "dropout: scaled by 1/p": (checks.dropout_keeps_the_mean, Dropout, elementwise.ScaledByOneOverP),
    "dropout: scaled in evaluation": (checks.dropout_rests_in_evaluation, Dropout, elementwise.ScaledInEvaluation),
    "dropout: active in evaluation": (checks.dropout_rests_in_evaluation, Dropout, elementwise.ActiveInEvaluation),
    "adam: β₁ in the second moment": (checks.adam_is_that_of_the_paper, Adam, optim.BetaOneInTheSecondMoment),
    "adam: no bias correction": (checks.adam_is_that_of_the_paper, Adam, optim.NoBiasCorrection),
    "adam: a step counted for each parameter": (
        checks.adam_is_that_of_the_paper,
        Adam,
        optim.StepsCountedForEachParameter,
    ),
    "adam: steps shared by all optimisers": (checks.adam_is_that_of_the_paper, Adam, optim.StepsSharedByAllOptimizers),
    "tied table: stepped twice by the optimiser": (
        checks.shared_table_is_stepped_once,
        Adam,
        optim.StepsWhatItIsGiven,
    ),
    "tied table: stepped twice as two parameters": (
        checks.models_table_is_stepped_once,
        BertForPreTraining,
        models.TableIsTwoParameters,
    ),
    "clipping: per tensor": (checks.clipping_keeps_the_direction, clip_by_global_norm, optim.clip_each_by_itself),
    "micro-batches: mean of means": (
        checks.micro_batches_add_up,
        losses.accumulate_by_targets,
        losses.accumulate_means_of_means,
    ),
}

RIGHT = {
    name: (setting, setting.right, "proved") for name, setting in vars(right).items() if isinstance(setting, Setting)
}


RIGHT["attention by hand"] = right.ATTENTION, attending_by(attention.AttendingByHand), "proved"


def with_each_check(table: dict[str, tuple[Setting, type[Any], str]]) -> pytest.MarkDecorator:
    """A test for each row and each check that suits its layer, called by the name of both."""
    return pytest.mark.parametrize(
        ("setting", "layer_class", "says", "check"),
        [
            pytest.param(setting, layer_class, says, check, id=f"{name}, {check.__name__}")
            for name, (setting, layer_class, says) in table.items()
            for check in setting.checks
        ],
    )


@with_each_check(RIGHT)
def test_a_right_layer_is_believed(
    setting: Setting, layer_class: type[Any], says: str, check: Callable[..., Report]
) -> None:
    assert verdict(check, *setting.make(layer_class)) == says


@with_each_check(DERIVATIVES)
def test_a_wrong_derivative_is_rejected(
    setting: Setting, layer_class: type[Any], says: str, check: Callable[..., Report]
) -> None:
    assert says in verdict(check, *setting.make(layer_class))


@pytest.mark.parametrize(("check", "subject", "twin"), BEHAVIOUR.values(), ids=BEHAVIOUR)
def test_wrong_behaviour_is_rejected(check: Callable[[Any], None], subject: Any, twin: Any) -> None:
    check(subject)
    with pytest.raises(AssertionError):
        check(twin)


def verdict(check: Callable[..., Report], layer: Any, inputs: tuple[Any, ...]) -> str:
    """What the check says: `proved` if the report is ok, `WRONG` if not, or the error in words."""
    try:
        return "proved" if check(layer, *inputs).ok else WRONG
    except (GradientError, ValueError) as error:
        return str(error)
