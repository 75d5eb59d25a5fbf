"""gradients_by_name: the gradients that a backward returned and added, by the names of inputs and parameters."""

from collections.abc import Mapping
from typing import Any

from npbert.core import Parameter, Tape, TapeError
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.report import GradientError
from npbert.io.messages import counted


def gradients_by_name(
    parameters: Mapping[str, Parameter], float_inputs: list[str], dx: Any, tape: Tape
) -> dict[str, Any]:
    """Return the gradients of the parameters, and of the float inputs unless they are None.

    Raises: GradientError if a gradient is missing, or something is left on the tape.
    """
    try:
        tape.check_empty()
    except TapeError as error:
        raise GradientError(str(error)) from error
    of_parameters = {name: parameter.grad for name, parameter in parameters.items()}
    returned = dx if isinstance(dx, tuple | list) and len(dx) == len(float_inputs) else as_tuple(dx)
    returned = () if dx is None else returned
    if len(returned) != len(float_inputs):
        hint = (
            "return one for each NumPy array of floats, or None without a gradient"
            if returned
            else "add the missing `return`"
        )
        raise GradientError(f"backward returns {counted(len(returned), 'gradient')}, for inputs {float_inputs}: {hint}")
    of_inputs = zip(float_inputs, returned, strict=True)
    return of_parameters | {name: gradient for name, gradient in of_inputs if gradient is not None}
