"""Wrong answers of exercises, planted in the blocks of the catalogue. (The others: tests/learn/test_exercises.py.)"""

from npbert.learn.exercises import attention_of_one_head as one_head
from npbert.learn.exercises import (
    cross_entropy_mistakes,
    dropout_mistakes,
    embedding,
    gelu_mistakes,
    layer_norm_roads,
    linear_mistakes,
    softmax,
)
from tests.planted import plant
from tests.planted.contracts import SETS

LOSS = {mistake.name: mistake.thing.backward for mistake in cross_entropy_mistakes.WRONG}

plant("Linear", says=SETS)(linear_mistakes.assigns)
plant("GELU", method="value_and_slope")(gelu_mistakes.slope_of_the_tanh_form)
plant("GELU", method="value_and_slope")(gelu_mistakes.product_rule_cut_short)
plant("FeedForward, gelu", part="activation", method="value_and_slope")(gelu_mistakes.product_rule_cut_short)
plant("Softmax")(softmax.averaged_over_the_leading_axis)
plant("SoftmaxCrossEntropy")(LOSS["sum_over_the_targets"])
plant("SoftmaxCrossEntropy")(LOSS["dloss_is_ignored"])
plant("SoftmaxCrossEntropy")(LOSS["divided_by_all_rows"])
plant("BertForTokenClassification", part="model.loss_function")(LOSS["divided_by_all_rows"])
plant("BertForSequenceClassification", "BertForQuestionAnswering", part="model.loss_function")(LOSS["dloss_is_ignored"])
plant("Embedding")(embedding.last_of_repeated_ids_wins)
plant("LayerNorm")(layer_norm_roads.gamma_out_of_the_sums)
plant("LayerNorm")(layer_norm_roads.eps_out_of_the_derivative)
plant("Dropout")(dropout_mistakes.backward_scaled_by_one_over_p)
plant("DotProductAttention", method="attend_backward")(one_head.key_gradient_reshaped)
plant("DotProductAttention", method="attend_backward")(
    next(mistake.thing.attend_backward for mistake in one_head.WRONG if mistake.name == "scale_forgotten_in_dq")
)
