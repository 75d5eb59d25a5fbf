"""Checks that all processes train the same model on the same data, in a folder that they share: else they stop."""

import secrets
import zlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import npbert
from npbert.core import Layer
from npbert.data.batch import Batch
from npbert.io.files import FileError, atomic_write
from npbert.training.parallel.communicator import Communicator
from npbert.training.settings import Settings

TOKEN_FILE = ".processes"


def check_same_run(
    communicator: Communicator, model: Layer, settings: Settings, files: Sequence[str | Path] = ()
) -> None:
    """Raise ValueError on all processes unless they have the same version of npbert and the same settings, models of
    the same values, and the same bytes in the files that they judge by."""
    if communicator.size == 1:
        return
    shown = {"version of npbert": npbert.__version__}
    shown |= {f"value for {name}": repr(value) for name, value in asdict(settings).items()}
    sums = {
        f"value of {name}": sha256(parameter.value.data).hexdigest() for name, parameter in model.named_parameters()
    }
    sums |= {f"held-out file {path}": sha256(Path(path).read_bytes()).hexdigest() for path in files}
    _check_same(communicator, {**shown, **sums}, shown)


def check_same_batch(communicator: Communicator, batch: Batch) -> None:
    """Raise ValueError on all processes unless each has read the same batch."""
    if communicator.size > 1:
        checksum = 0
        for _, array in sorted(vars(batch).items()):
            checksum = zlib.crc32(b"" if array is None else array.tobytes(), checksum)
        _check_same(communicator, {"batch, so other files,": checksum})


def _check_same(communicator: Communicator, values: Mapping[str, object], shown: Container[str] = ()) -> None:
    """Raise ValueError on all processes unless each has the same values by name. shown: names of those that the error
    gives."""
    first, *_ = everyone = communicator.gather(values)
    for rank, theirs in enumerate(everyone):
        for name in {**theirs, **first}:
            ours, other = first.get(name), theirs.get(name)
            if ours != other:
                how = f": {other} and not {ours}" if name in shown else ""
                raise ValueError(f"process {rank} has another {name} than process 0{how}")


def check_same_folder(communicator: Communicator, folder: Path) -> None:
    """Raise FileError on all processes unless each sees the folder that process 0 writes to."""
    if communicator.size == 1:
        return
    path, token = folder / TOKEN_FILE, secrets.token_hex(8)
    if communicator.is_first:
        with atomic_write(path) as written:
            written.write_text(token, encoding="utf-8")
    places = communicator.gather((token, str(folder.resolve())))
    token, place = places[0]
    seen = communicator.gather(path.is_file() and path.read_text(encoding="utf-8") == token)
    if communicator.is_first:
        path.unlink()
    if not all(seen):
        rank = seen.index(False)
        raise FileError(
            f"process {rank}, in its folder {places[rank][1]}, does not see the files that process 0 writes to "
            f"{place}: a run has one folder, which all of its processes share"
        )


def done_by_the_first(communicator: Communicator, work: Callable[[], object]) -> None:
    """work(), on process 0 alone.

    Raises: on all processes what `work` raises, of OSError, ValueError and ImportError.
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
