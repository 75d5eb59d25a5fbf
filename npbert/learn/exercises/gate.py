"""Exercise 17: a gate."""

from npbert.blocks import GatedFeedForward
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
In the feed-forward of ModernBERT, one projection of x decides how much of another passes: h = g · u, number by number,
with the gate g = act(x Wg + bg) and u = x W₁ + b₁. Then y = h W₂ + b₂. (With GELU as act it is called GeGLU.)

The gradient of h is there already. It goes on to both factors, and x is behind both. All parts know their own
backwards: call each with what comes back to it, in the reverse order of forward.
"""
ASKED = """
Return dx, of the shape of x.

dh, g, u (N, F): the gradient of h = g · u, and its two factors. Call the backward of self.intermediate, then of
self.activation, then of self.gate.
"""
HINTS = """
Take one number of h: it is g · u. If u moves by a little, h moves by g times as much.

So du = dh * g, and, the other way round, dg = dh * u: each factor gets dh times the other. A gate that is closed, with
g = 0, lets nothing back to u either.

u was made of x by self.intermediate, and g by self.gate and then self.activation. dx is the sum of what comes back:
self.intermediate.backward(dh * g, tape) + self.gate.backward(self.activation.backward(dh * u, tape), tape).
"""
PLAIN = """
def backward(self, dy, tape):
    dh = self.output.backward(dy, tape)
    g, u = tape.take(self)
    du = dh * g
    dg = dh * u
    dx_of_u = self.intermediate.backward(du, tape)
    dbefore = self.activation.backward(dg, tape)
    dx_of_gate = self.gate.backward(dbefore, tape)
    dx = dx_of_u + dx_of_gate
    return dx
"""
PRODUCT = "h is a product, number by number: each factor gets dh times the other factor."
REASONS = {
    "the gradient of gate.weight": f"{PRODUCT} For the gate it is dh · u, and it goes through the activation first.",
    "the gradient of intermediate.weight": f"{PRODUCT} For u it is dh · g.",
    "dx": f"{PRODUCT} x went into both, so what comes back along both roads is added.",
}
PART = layer_part(
    sample(GatedFeedForward, normal(6, 5), 5, 7, activation="gelu"),
    sample(GatedFeedForward, normal(9, 4), 4, 3, activation="silu"),
    given=2,
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
)
EXERCISE = Exercise("a gate", CHAPTERS[11], TEXT, HINTS, (PART,))
