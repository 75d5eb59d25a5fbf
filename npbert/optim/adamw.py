"""Adam and AdamW: steps sized by the mean and the mean square of recent gradients."""

import math
from collections.abc import Iterable

import numpy as np

from npbert.compute import Array, in_blocks, run
from npbert.core import Parameter
from npbert.optim.optimizer import Optimizer, check_range


def adam(
    theta: Array, g: Array, m: Array, v: Array, *, t: int, alpha: float, betas: tuple[float, float], eps: float
) -> tuple[Array, Array, Array]:
    """Return θ, m and v after step t = 1, 2, … with gradient g: algorithm 1 of Kingma & Ba 2015, line by line.

    `Adam.step` computes the same in place and in fewer operations; a test compares the two.
    """
    beta1, beta2 = betas
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    theta = theta - alpha * m_hat / (np.sqrt(v_hat) + eps)
    return theta, m, v


class Adam(Optimizer):
    """At step t, with gradient g, for each value θ:

        m ← β₁ m + (1 − β₁) g            v ← β₂ v + (1 − β₂) g²
        θ ← θ − lr · m̂ / (√v̂ + eps)      with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)

    m and v start as 0, so they are too small at first; dividing by 1 − βᵗ corrects that. lr is the paper's α. (Kingma &
    Ba 2015, algorithm 1.) Chapter 8 of docs/ derives it; in exercise 14 you do.

    Raises: ValueError for no parameters, a negative lr or eps, or betas outside [0, 1).
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, lr)
        self.betas = check_range("beta1", betas[0], 1), check_range("beta2", betas[1], 1)
        self.eps = check_range("eps", eps)
        self.first_moments = [np.zeros_like(parameter.value) for parameter in self.parameters]
        self.second_moments = [np.zeros_like(parameter.value) for parameter in self.parameters]

    def moments(self) -> dict[str, list[Array]]:
        return {"first_moments": self.first_moments, "second_moments": self.second_moments}

    def step(self, scale: float = 1.0) -> None:
        """Take the step of `adam` for the gradients scale · g: 12 operations a block (13 with a decay), on several
        threads, with one temporary array.

        m̂ and v̂ are not computed: each is m or v divided by a number, and these numbers are moved into scalars.
        """
        self.steps += 1
        t, (beta1, beta2) = self.steps, self.betas
        new1, new2 = (1 - beta1) * scale, (1 - beta2) * scale**2
        root_correction = math.sqrt(1 - beta2**t)
        step_size = self.lr * root_correction / (1 - beta1**t)
        eps = self.eps * root_correction

        def update(block: tuple[float, tuple[Array, ...]]) -> None:
            kept, (theta, g, m, v) = block
            change = new1 * g  # one array for all intermediate results, to stay in the cache
            m *= beta1
            m += change
            np.multiply(g, g, out=change)
            change *= new2
            v *= beta2
            v += change
            np.sqrt(v, out=change)
            change += eps
            np.divide(m, change, out=change)
            change *= step_size
            if kept != 1:
                theta *= kept
            theta -= change

        blocks = []
        for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments, strict=True):
            kept = self.kept(parameter)
            blocks += [(kept, block) for block in in_blocks(parameter.value, parameter.grad, m, v)]
        run(update, blocks)

    def kept(self, parameter: Parameter) -> float:
        """Return the factor of a value before its step: 1, as Adam has no decay."""
        return 1.0


class AdamW(Adam):
    """Adam with decoupled weight decay: θ ← θ − lr · λ θ, then the step of Adam.

    The decay is not part of the gradient, so m and v do not contain it. It applies only to matrices, not to biases, γ
    and β. (Loshchilov & Hutter 2019, algorithm 2, where only the schedule scales λ. As in BERT's code, the whole lr
    does, and only matrices decay.)

    Raises: ValueError for no parameters, a negative lr, eps or weight_decay, or betas outside [0, 1).
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(parameters, lr, betas, eps)
        self.weight_decay = check_range("weight_decay", weight_decay)

    def kept(self, parameter: Parameter) -> float:
        """Return 1 − lr · λ for a matrix, otherwise 1."""
        return 1 - self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0
