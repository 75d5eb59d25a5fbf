"""ReplacedTokenHead: the score that a token has been replaced."""

from npbert.blocks.feed_forward import FeedForward
from npbert.core import Init


class ReplacedTokenHead(FeedForward):
    """logits = act(x W + b) w + c: above 0 for a token that is probably replaced. A FeedForward with one output.

    x (N, D)   W (D, D)   w (D, 1)   logits (N, 1)

    Its derivative is that of FeedForward. (Clark et al. 2020, "ELECTRA", section 2: D(x, t) = σ(wᵀ h); W and the
    activation are in its code.)

    Raises: ValueError if x is not (N, D); TypeError if its dtype is not that of W.
    """

    def __init__(self, hidden_size: int, init: Init, *, activation: str = "gelu") -> None:
        super().__init__(hidden_size, hidden_size, init, activation=activation, output_size=1)
