"""NextSentenceHead: does the second sentence follow the first?"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.linear import Linear


class NextSentenceHead(Linear):
    """logits = pooled W + b: a Linear with two outputs, 0 = is next, 1 = is not.

    pooled (B, D)   W (D, 2)   logits (B, 2)

    Its derivative is that of Linear. (Devlin et al. 2018, section 3.1, task 2; the labels are those of its code and of
    Hugging Face.)

    Raises: ValueError when the last axis of pooled is not D.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__(hidden_size, 2, rng=rng, initializer_range=initializer_range, dtype=dtype)
