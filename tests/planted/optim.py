"""Adam and clipping gone wrong, and work in blocks that forgets some."""

import numpy as np

from npbert.compute import BLOCK, rowwise
from npbert.optim import Adam, clip_by_global_norm
from tests.planted import checks, fails

wrong_adam = fails(checks.adam_is_that_of_the_paper, Adam, method="step")


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @wrong_adam
    def beta1_in_the_second_moment(self, scale=1.0):
        """β₁ also weighs the squares."""
        self.betas = self.betas[0], self.betas[0]
        Adam.step(self, scale)

    @wrong_adam
    def no_bias_correction(self, scale=1.0):
        """The first steps are too small, as if very many had been before them."""
        self.steps += 10**6
        Adam.step(self, scale)

    @wrong_adam
    def steps_counted_for_each_parameter(self, scale=1.0):
        """The counter runs on within one step, so there is less correction."""
        self.steps += len(self.parameters) - 1
        Adam.step(self, scale)

    @wrong_adam
    def steps_shared_by_all_optimizers(self, scale=1.0):
        """The counter belongs to the class, so a second optimiser goes on where the first one is."""
        self.steps = type(self).shared = getattr(type(self), "shared", -1) + 1
        Adam.step(self, scale)

    @fails(checks.a_parameter_given_twice_is_stepped_once, Adam, method="__init__")
    def steps_what_it_is_given(self, parameters, **options):
        """A parameter that is listed twice is stepped twice."""
        Adam.__init__(self, parameters, **options)
        self.parameters = parameters
        self.first_moments = [np.zeros_like(parameter.value) for parameter in parameters]
        self.second_moments = [np.zeros_like(parameter.value) for parameter in parameters]


@fails(checks.clipping_keeps_the_direction, clip_by_global_norm)
def clip_each_by_itself(parameters, max_norm):
    """Every gradient gets a norm of its own."""
    for parameter in parameters:
        clip_by_global_norm([parameter], max_norm)


@fails(checks.all_rows_are_computed, rowwise)
def rowwise_without_the_rest(expression, x):
    """Blocks of equal size: the rows that are left over belong to none."""
    y, size = np.full(x.shape, np.nan), max(1, BLOCK * len(x) // x.size)
    for start in range(0, len(x) // size * size, size):
        y[start : start + size] = expression(x[start : start + size])
    return y
