"""What process 0 does by itself while the others wait: where it fails, all of them fail."""

from __future__ import annotations

from collections.abc import Callable

from npbert.files import FileError
from npbert.messages import in_words
from npbert.training.parallel.communicator import Communicator


def done_by_the_first(communicator: Communicator, work: Callable[[], object]) -> None:
    """work(), on process 0 alone.

    Raises: on process 0 what `work` raises, of OSError, ValueError and ImportError; FileError in the same words on the
    others.
    """
    error: Exception | None = None
    if communicator.is_first:
        try:
            work()
        except (OSError, ValueError, ImportError) as failed:
            error = failed
    said = communicator.gather(error and in_words(error))[0]
    if error:
        raise error
    if said:
        raise FileError(said)
