"""Activations, softmax, LayerNorm and dropout gone wrong."""

import math

import numpy as np

from npbert.core import NO_TAPE
from npbert.layers import GELU, Dropout, LayerNorm, TanhGELU
from tests.planted import checks, fails, plant
from tests.planted.contracts import BETWEEN


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @plant("TanhGELU", method="value_and_slope")
    def slope_of_the_erf_form(self, x):
        """The reverse: the slope of the exact form."""
        return TanhGELU.value_and_slope(self, x)[0], GELU().value_and_slope(x)[1]

    @plant("TanhGELU", method="value_and_slope")
    def product_rule_of_the_tanh_form_cut_short(self, x):
        """The same mistake in the other form."""
        y, _ = TanhGELU.value_and_slope(self, x)
        return y, y / x

    @plant("GELU", method="value", says="another y without a tape")
    def faster_in_evaluation(self, x):
        """Without a tape the approximation is good enough, so a model is not evaluated as it was trained."""
        return TanhGELU().value(x)

    @fails(checks.float32_stays_float32, TanhGELU, method="value_and_slope")
    def scale_in_float64(self, x):
        """np.sqrt of a Python number is a float64 scalar, and that makes float64 of a float32 array."""
        return TanhGELU.value_and_slope(self, x * np.sqrt(2 / math.pi) / math.sqrt(2 / math.pi))

    @plant("Tanh", says="read-only")
    def writes_in_dy(self, dy, tape):
        """dx takes the place of dy, which is the caller's."""
        dy *= tape.take(self)
        return dy

    @plant("Softmax", says="y is the caller's")
    def writes_in_its_output(self, dp, tape):
        """What the tape holds is the output, which the caller still has."""
        p = tape.take(self)
        p *= dp - (dp * p).sum(axis=-1, keepdims=True)
        return p.copy()

    @plant("Dropout", says="returns 0 gradients")
    def return_forgotten(self, dy, tape):
        """Backward computes dx and keeps it to itself."""
        Dropout.backward(self, dy, tape)

    @plant("BertForSequenceClassification", "BertForSequenceClassification, regression", part="model.dropout")
    @plant("BertForMultipleChoice", "BertForTokenClassification", part="model.dropout")
    def dropout_not_undone(self, dy, tape):
        """Backward hands on what it is given."""
        tape.take(self)
        return dy

    @plant("Dropout", method="forward", says="another y without a tape")
    def rests_when_nothing_is_kept(self, x, tape=NO_TAPE):
        """So a layer that is computed again for its backward is another one than the first time."""
        return Dropout.forward(self, x, tape if tape.keeps else NO_TAPE)

    @fails(checks.dropout_keeps_the_mean, Dropout, method="apply")
    def scaled_by_one_over_p(self, x, keep):
        """Forward and backward agree on the wrong factor, so the mean of the output is off."""
        return x if keep is None else x * keep * (1 / self.p)

    @fails(checks.dropout_rests_in_evaluation, Dropout, method="apply")
    def scaled_in_evaluation(self, x, keep):
        """Both conventions at once: 1/(1 − p) while training, and 1 − p in evaluation."""
        return x * (1 - self.p) if keep is None else Dropout.apply(self, x, keep)

    @fails(checks.dropout_rests_in_evaluation, Dropout, method="draw")
    def active_in_evaluation(self, shape, rng):
        """Drops even when no generator is handed in."""
        return Dropout.draw(self, shape, rng or np.random.default_rng(0))

    @plant("LayerNorm", says="changes the value of gamma")
    def gamma_updated_too_early(self, dy, tape):
        """The optimiser's step is taken inside backward, before dx is computed from γ."""
        self.gamma.value -= 1e-3 * dy.sum(axis=0)
        return LayerNorm.backward(self, dy, tape)

    @plant("LayerNorm", method="normalize", says="read-only")
    def callers_input_centred(self, x):
        """Saves an array by subtracting the mean in place, in what belongs to the caller."""
        x -= x.mean(axis=-1, keepdims=True)
        return LayerNorm.normalize(self, x)

    @fails(checks.constant_row_is_finite, LayerNorm, method="__init__")
    def no_eps(self, features, init, **options):
        """Forward and backward agree, but a constant row is 0 / 0."""
        LayerNorm.__init__(self, features, init, eps=0.0)


@plant("EncoderLayer", part="dropout", says=BETWEEN)
class OneMaskForTwoSublayers(Dropout):
    """What was drawn is kept on the object, which serves two sub-layers: the second overwrites the first."""

    def forward(self, x, tape=NO_TAPE):
        self.keep = self.draw(x.shape, tape.rng)
        return self.apply(x, self.keep)

    def backward(self, dy, tape):
        return self.apply(dy, self.keep)
