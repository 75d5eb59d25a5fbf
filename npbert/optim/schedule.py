"""The learning rate over time: a linear warm-up, then a linear decay to 0."""


def linear_warmup_decay(step: int, *, lr: float, warmup_steps: int, total_steps: int) -> float:
    """The learning rate of step 0, 1, 2, …: lr · step / warmup_steps in the warm-up, then a line to 0 at total_steps.

    It is 0 at step 0, lr at step warmup_steps, and 0 from total_steps on. (Devlin et al. 2018, appendix A.2; step
    counted from 0 as Hugging Face does.)

    Raises: ValueError unless 0 ≤ step and 0 ≤ warmup_steps < total_steps.
    """
    if step < 0:
        raise ValueError(f"step is {step}, wanted at least 0")
    if not 0 <= warmup_steps < total_steps:
        raise ValueError(f"warmup_steps is {warmup_steps}, wanted at least 0 and less than total_steps, {total_steps}")
    if step < warmup_steps:
        return lr * step / warmup_steps
    return lr * max(0, total_steps - step) / (total_steps - warmup_steps)
