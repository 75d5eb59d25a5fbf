"""Exercise 7: LayerNorm."""

from npbert.layers import LayerNorm
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
LayerNorm brings every row to mean 0 and variance 1, then scales and shifts it: y = γ x̂ + β with x̂ = (x − μ) / σ.

The gradients of γ and β are like those of a weight and a bias. The gradient of x is the most famous trap in
backpropagation, because an xᵢ moves its row along three paths: its own x̂ᵢ directly; every x̂ⱼ through the mean μ; and
every x̂ⱼ through σ. Start with dx̂ = γ dy. For each path, find how fast x̂ⱼ moves with xᵢ, multiply by dx̂ⱼ, and sum
over j. Then add up the three.
"""
ASKED = """
Add dγ to the gradient of self.gamma and dβ to that of self.beta; return dx.

dy, dx (N, D)   dγ, dβ (D,)   x_hat (N, D): x̂   sigma (N, 1): σ, with eps inside
"""
HINTS = """
Directly: ∂x̂ᵢ/∂xᵢ = 1/σ. Through μ: ∂x̂ⱼ/∂μ = −1/σ and ∂μ/∂xᵢ = 1/D, for every j. Through σ: ∂x̂ⱼ/∂σ = −x̂ⱼ/σ and
∂σ/∂xᵢ = x̂ᵢ/D, for every j.

Σⱼ dx̂ⱼ · (−1/σ) · 1/D is −mean(dx̂)/σ. And Σⱼ dx̂ⱼ · (−x̂ⱼ/σ) · x̂ᵢ/D is −x̂ᵢ mean(dx̂ · x̂)/σ. The means are over the
row: axis=-1, keepdims=True.

dγ = Σₙ dy x̂, dβ = Σₙ dy, dx̂ = γ dy, dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ.
"""
PLAIN = """
def backward(self, dy, tape):
    def mean(of_rows):
        return of_rows.mean(axis=-1, keepdims=True)
    def all_roads(dx_hat):
        taken = mean(dx_hat) + x_hat * mean(dx_hat * x_hat)
        return (dx_hat - taken) / sigma
    x_hat, sigma = tape.take(self)
    dgamma = (dy * x_hat).sum(axis=0)
    dbeta = dy.sum(axis=0)
    self.gamma.add_grad(dgamma)
    self.beta.add_grad(dbeta)
    dx_hat = dy * self.gamma.value
    dx = all_roads(dx_hat)
    return dx
"""
REASONS = {
    "dγ": "A step in γ moves y by x̂ times as much, in every row, and the gradients of the rows add up.",
    "dβ": "β is added to every row, so the gradients of the rows add up.",
    "dx": "An x moves its row along three paths: directly, through μ and through σ. Their gradients add up. γ "
    "weights each x̂ⱼ differently, so all three start with dx̂ = γ dy, and not with dy.",
}
PART = layer_part(
    sample(LayerNorm, normal(7, 5), 5, eps=1e-2),  # large enough to show if it is forgotten
    sample(LayerNorm, normal(4, 11), 11, eps=1e-1),
    names={"gamma": "dγ", "beta": "dβ"},
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
    without=("three_roads",),
)
EXERCISE = Exercise("LayerNorm", CHAPTERS[5], TEXT, HINTS, (PART,))
