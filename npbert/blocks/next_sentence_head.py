"""NextSentenceHead: predicts whether the second sentence follows the first."""

from npbert.core import Init
from npbert.layers import Linear


class NextSentenceHead(Linear):
    """logits = pooled W + b: a Linear with two outputs, 0 = is next, 1 = is not.

    pooled (B, D)   W (D, 2)   logits (B, 2)

    Its derivative is that of Linear. (Devlin et al. 2018, section 3.1, task 2; the labels are those of its code and of
    Hugging Face.)

    Raises: ValueError when pooled is not (B, D), TypeError when its dtype is not that of W.
    """

    def __init__(self, hidden_size: int, init: Init) -> None:
        super().__init__(hidden_size, 2, init)
