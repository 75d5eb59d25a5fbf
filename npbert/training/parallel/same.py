"""Checks that all processes train the same model on the same data, in a folder that they share: else they stop."""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import npbert
from npbert.data.batch import Batch
from npbert.files import FileError, atomic_write
from npbert.messages import counted, in_words
from npbert.training.parallel.communicator import Communicator
from npbert.training.settings import Settings

TOKEN_FILE = ".processes"


def check_parts(communicator: Communicator, parts: int, folder: Path, *, has_state: bool) -> None:
    """Raise ValueError for more processes than parts of a batch. folder: of the run, whose parts stay once it has a
    state."""
    if parts >= communicator.size:
        return
    most, started = "1 process" if parts == 1 else f"{parts} processes", communicator.size
    if not has_state:
        raise ValueError(f"--parts is {parts}, so at most {most} can share the work; {started} were started")
    raise ValueError(
        f"the run in {folder} was begun with {counted(parts, 'part')}, so it can only ever have {most}, and {started} "
        f"were started. A run that is begun with --parts {started} can have up to {started}."
    )


def check_same_run(communicator: Communicator, model: Any, settings: Settings, judged_by: Sequence[Path] = ()) -> None:
    """Raise ValueError on all processes unless they have the same version of npbert and the same settings, models of
    the same values, and the same bytes in the files that the model is judged by."""
    if communicator.size == 1:
        return
    shown = {"version of npbert": npbert.__version__}
    shown |= {f"value for {name}": repr(value) for name, value in asdict(settings).items()}
    sums = {f"value of {name}": sha256(parameter.value).hexdigest() for name, parameter in model.named_parameters()}
    sums |= {f"held-out file {path}": sha256(path.read_bytes()).hexdigest() for path in judged_by}
    everyone = communicator.gather({**shown, **sums})
    for rank, theirs in enumerate(everyone):
        for name in {**theirs, **everyone[0]}:
            first, other = everyone[0].get(name), theirs.get(name)
            if first != other:
                values = f": {other} and not {first}" if name in shown else ""
                raise ValueError(f"process {rank} has another {name} than process 0{values}")


def check_same_batch(communicator: Communicator, batch: Batch) -> None:
    """Raise ValueError on all processes unless each has read the same batch."""
    if communicator.size == 1:
        return
    checksum = 0
    for _, array in sorted(vars(batch).items()):
        checksum = zlib.crc32(b"" if array is None else array.tobytes(), checksum)
    found = communicator.gather(checksum)
    for rank, theirs in enumerate(found):
        if theirs != found[0]:
            raise ValueError(f"process {rank} reads other data than process 0: the files must be the same for all")


def check_same_folder(communicator: Communicator, folder: Path) -> None:
    """Raise FileError on all processes unless each sees the folder that process 0 writes to."""
    if communicator.size == 1:
        return
    path, token = folder / TOKEN_FILE, secrets.token_hex(8) if communicator.is_first else ""
    if communicator.is_first:
        with atomic_write(path) as written:
            written.write_text(json.dumps(token), encoding="utf-8")
    places = communicator.gather([token, str(folder.resolve())])
    token, place = places[0]
    seen = communicator.gather(path.is_file() and json.loads(path.read_text(encoding="utf-8")) == token)
    if communicator.is_first:
        path.unlink()
    if not all(seen):
        rank = seen.index(False)
        if places[rank][1] != place:
            raise FileError(
                f"process {rank} was given the folder {places[rank][1]}, and process 0 {place}: a run has one"
            )
        raise FileError(
            f"process {rank} does not see the files that process 0 writes to {place}: a run on several "
            "machines needs a folder that all of them share"
        )


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
