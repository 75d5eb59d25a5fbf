"""Before a shared run begins: what a launcher says is found out, and cores are shared; and what does not fit together
is refused by all processes, with the same words."""

import os
import platform
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Batch, num_threads, set_num_threads
from npbert.io.launcher import launched
from npbert.training.parallel import (
    CHOSEN_BY,
    check_same_batch,
    share_cores,
    world,
)
from tests.training.parallel.program import make
from tests.training.parallel.together import Threads, together
from tests.training.tiny import classifier

ENVIRONMENTS = [  # what a launcher says, how many it has started
    ({}, 1),
    ({"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, 4),
    ({"PMIX_RANK": "0"}, 0),
    ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, 1),  # in a batch script, before srun
    ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"}, 8),
    ({"SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_SIZE": "4"}, 4),  # which has used srun for its own
]


@pytest.mark.parametrize(("environment", "count"), ENVIRONMENTS)
def test_how_many_a_launcher_has_started(environment, count, monkeypatch):
    monkeypatch.setattr("os.environ", environment)
    assert launched() == count


def test_under_a_launcher_without_mpi4py(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    with pytest.raises(ImportError, match=r"the package mpi4py is missing; .*\[mpi\]"):
        world()


def test_an_mpi_that_is_not_that_of_the_launcher_is_refused(monkeypatch):
    mpi = SimpleNamespace(COMM_WORLD=SimpleNamespace(size=1), Get_library_version=lambda: "Some MPI 1.0\nmore")
    monkeypatch.setattr("npbert.training.parallel.import_extra", lambda *_, **__: mpi)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(OSError, match=r"has started 2 processes, but mpi4py sees 1, .* \(Some MPI 1\.0\)"):
        world()


NODES = {  # the node and the cores of each process; on how many threads each computes
    "each bound to cores of its own": ([("a", {0, 1}), ("a", {2, 3})], [2, 2], []),
    "three on two cores": ([("a", {0, 1})] * 3, [1, 1, 1], ["processes share cores, and wait"]),
    "both bound to one core": ([("b", {0}), ("b", {0})], [1, 1], ["processes share cores, and"]),
}


@pytest.mark.parametrize(("everyone", "threads", "said"), NODES.values(), ids=NODES)
def test_cores_are_shared(everyone, threads, said, monkeypatch, recwarn):
    before = num_threads()
    for name in CHOSEN_BY:
        monkeypatch.delenv(name, raising=False)
    found = []
    try:
        for rank, (node, cores) in enumerate(everyone):
            communicator = Threads(rank, len(everyone), None, None)
            communicator.gather = lambda _: [[(node, core) for core in cores] for node, cores in everyone]
            monkeypatch.setattr(platform, "node", lambda node=node: node)
            monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False)
            share_cores(communicator)
            found.append(num_threads())
    finally:
        set_num_threads(before)
    assert found == threads
    assert [str(warning.message)[: len(line)] for warning, line in zip(recwarn, said, strict=True)] == said


def test_other_settings_another_model_other_code_or_other_files(tmp_path, monkeypatch):
    this = threading.local()

    def check(communicator, steps=12, bias=0.0, code="1.0", held_out="a"):
        """The last process has these changes."""
        is_last = communicator.rank == 2
        model, this.code = classifier(), code if is_last else "1.0"
        model.classifier.bias.value += bias * is_last
        inputs = {"held-out file dev": held_out if is_last else "a"}
        make(tmp_path, communicator, model=model, inputs=inputs, steps=steps if is_last else 12).train()

    monkeypatch.setattr("npbert.training.settings._code", lambda: this.code)
    for changes, said in (
        ({"steps": 7}, "2 differs from process 0: steps was 12 and is 7"),
        ({"bias": 0.1}, r"2 differs from process 0: value of classifier\.bias was .*"),
        ({"code": "1.1"}, r"2 differs from process 0: code of npbert was 1.0 and is 1.1"),
        ({"held_out": "b"}, r"2 differs from process 0: held-out file dev was 1 bytes, .*"),
    ):
        with pytest.raises(ValueError, match=f"^process {said}$"):
            together(3, lambda communicator, changes=changes: check(communicator, **changes))


def test_other_data():
    def check(communicator):
        labels = np.array([1, int(communicator.rank == 1)])
        check_same_batch(communicator, Batch(np.array([[5, 6], [7, 8]]), labels=labels))

    with pytest.raises(ValueError, match=r"^process 1 differs from process 0: checksum of the batch was"):
        together(3, check)
