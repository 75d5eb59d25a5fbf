"""Whether all processes train the same model on the same data, in a folder that they share: or else they stop."""

from __future__ import annotations

import json
import secrets
import zlib
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.files import FileError
from npbert.messages import counted
from npbert.training.parallel.communicator import Communicator
from npbert.training.settings import Settings

TOKEN_FILE = ".processes"


def check_parts(communicator: Communicator, parts: int, *, begun: Path | None = None) -> None:
    """Raise ValueError for more processes than parts of a batch. begun: the folder of a run, whose parts stay."""
    if parts >= communicator.size:
        return
    most, started = "1 process" if parts == 1 else f"{parts} processes", communicator.size
    if begun is None:
        raise ValueError(f"--parts is {parts}, so at most {most} can share the work; {started} were started")
    raise ValueError(
        f"the run in {begun} was begun with {counted(parts, 'part')}, so it can only ever have {most}, and {started} "
        f"were started. A run that is begun with --parts {started} can have up to {started}."
    )


def check_same_run(communicator: Communicator, model: Any, settings: Settings) -> None:
    """Raise ValueError on all processes unless they have the same settings, and models of the same values."""
    if communicator.size == 1:
        return
    values = {name: sha256(parameter.value).hexdigest() for name, parameter in model.named_parameters()}
    for kind, own in (("setting", asdict(settings)), ("parameter", values)):
        everyone = communicator.gather(own)
        for rank, theirs in enumerate(everyone):
            for name in sorted(theirs.keys() | everyone[0].keys()):
                first, other = everyone[0].get(name), theirs.get(name)
                if first != other:
                    what = f"of {name}" if kind == "parameter" else f"for {name}: {other!r} and not {first!r}"
                    raise ValueError(f"process {rank} has another value than process 0 {what}")


def check_same_batch(communicator: Communicator, batch: Batch) -> None:
    """Raise ValueError on all processes unless each has read the same batch."""
    if communicator.size == 1:
        return
    arrays: list[Array] = [array for _, array in sorted(vars(batch).items()) if array is not None]
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(array.tobytes(), checksum)
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
        path.write_text(json.dumps(token), encoding="utf-8")
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
