"""Checks that processes have the same values, batches and folder; and runs work on process 0 for all."""

import secrets
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from npbert.data.batch import Batch
from npbert.io.files import FileError, atomic_write
from npbert.training.parallel import Communicator

TOKEN_FILE = ".processes"


def check_same(communicator: Communicator, values: Mapping[str, object], *, shown: bool = True) -> None:
    """Raise ValueError on all processes unless each has the same values by name. shown: include them in the error."""
    first, *_ = everyone = communicator.gather(values)
    for rank, theirs in enumerate(everyone):
        for name in {**theirs, **first}:
            ours, other = first.get(name), theirs.get(name)
            if ours != other:
                how = f": {other} and not {ours}" if shown else ""
                raise ValueError(f"process {rank} has another {name} than process 0{how}")


def check_same_batch(communicator: Communicator, batch: Batch) -> None:
    """Raise ValueError on all processes unless each has read the same batch."""
    if communicator.size > 1:
        checksum = 0
        for _, array in sorted(vars(batch).items()):
            checksum = zlib.crc32(b"" if array is None else array.tobytes(), checksum)
        check_same(communicator, {"batch, so other files,": checksum}, shown=False)


def check_same_folder(communicator: Communicator, folder: Path) -> None:
    """Raise FileError on all processes unless each sees the folder of process 0."""
    if communicator.size == 1:
        return
    path, token = folder / TOKEN_FILE, secrets.token_hex(8)
    if communicator.is_first:
        with atomic_write(path) as written:
            written.write_text(token, encoding="utf-8")
    (token, place), *others = communicator.gather((token, str(folder.resolve())))
    seen = communicator.gather(path.is_file() and path.read_text(encoding="utf-8") == token)
    if communicator.is_first:
        path.unlink()
    for rank, (_, other) in enumerate(others, start=1):
        if not seen[rank]:
            raise FileError(
                f"process {rank}, in the folder {other}, does not see the files of process 0 in {place}; run all "
                "processes in one shared folder"
            )


def done_by_the_first(communicator: Communicator, work: Callable[[], object]) -> None:
    """Run work() only on process 0.

    Raises: on all processes an OSError, ValueError or ImportError of `work`.
    """
    error: Exception | None = None
    if communicator.is_first:
        try:
            work()
        except (OSError, ValueError, ImportError) as failed:
            error = failed
    of_the_first = communicator.gather(error)[0]
    if of_the_first:
        raise error or of_the_first
