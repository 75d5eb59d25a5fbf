"""EventFile: what TensorBoard reads: scalars, histograms and images by step."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.extras import import_extra
from npbert.files import naming

_BINS, _RED_GREEN_BLUE_ALPHA = 30, 4


class EventFile:
    """A new event file in `folder`. TensorBoard drops what files before it have of `first_step` and later steps.

    Each event is a protocol buffer in TensorFlow's format for records, and in the file at once. (TensorBoard's own
    writer has a thread write, whose errors reach nobody.) Extra: train. Raises: OSError that names the file.
    """

    def __init__(self, folder: Path, *, first_step: int) -> None:
        self._events = import_extra("tensorboard.compat.proto.event_pb2", extra="train")
        self._summaries = import_extra("tensorboard.compat.proto.summary_pb2", extra="train")
        records = import_extra("tensorboard.summary.writer.record_writer", extra="train")
        folder.mkdir(exist_ok=True)
        seconds, rest = divmod(time.time_ns(), 10**9)  # files are read in the order of their names
        self._path = folder / f"events.out.tfevents.{seconds:010d}.{rest:09d}.{socket.gethostname()}.{os.getpid()}"
        self._file = self._path.open("xb")
        self._records = records.RecordWriter(self._file)
        log = self._events.SessionLog
        self._add(0, file_version="brain.Event:2")
        self._add(first_step, session_log=log(status=log.START))

    def scalars(self, step: int, numbers: dict[str, float]) -> None:
        """Add numbers by name."""
        self._summary(step, [{"tag": name, "simple_value": value} for name, value in numbers.items()])

    def histograms(self, step: int, samples: dict[str, Array]) -> None:
        """Add how the numbers of each sample are spread."""
        values = []
        for name, sample in samples.items():
            counts, edges = np.histogram(sample, _BINS, _ends(sample))
            histogram = self._summaries.HistogramProto(
                min=sample.min(),
                max=sample.max(),
                num=len(sample),
                sum=sample.sum(),
                sum_squares=sample @ sample,
                bucket_limit=edges[1:],
                bucket=counts,
            )
            values.append({"tag": name, "histo": histogram})
        self._summary(step, values)

    def images(self, step: int, pictures: dict[str, bytes]) -> None:
        """Add pictures by name, each a PNG file."""
        values = []
        for name, png in pictures.items():
            width, height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))  # where PNG has them
            image = self._summaries.Summary.Image(
                width=width, height=height, colorspace=_RED_GREEN_BLUE_ALPHA, encoded_image_string=png
            )
            values.append({"tag": name, "image": image})
        self._summary(step, values)

    def close(self) -> None:
        """End the file."""
        with naming(self._path):
            self._file.close()

    def _summary(self, step: int, values: list[dict[str, Any]]) -> None:
        if values:
            summary = self._summaries.Summary(value=[self._summaries.Summary.Value(**value) for value in values])
            self._add(step, summary=summary)

    def _add(self, step: int, **content: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, **content)
        with naming(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()


def _ends(sample: Array) -> tuple[float, float]:
    """The least and the largest number, with some room where 30 steps from one to the other would be no steps."""
    low, high = float(sample.min()), float(sample.max())
    largest = max(abs(low), abs(high), 1e-200)
    room = 0.0 if high - low > 1e-9 * largest else max(0.5, 1e-6 * largest)
    return low - room, high + room
