"""What a launcher says is found out before anything is read, and cores are shared."""

import os
import platform
import sys
from types import SimpleNamespace

import pytest

from npbert.compute import num_threads, set_num_threads
from npbert.extras import MissingExtraError
from npbert.launched import launched
from npbert.messages import LOGGER
from npbert.training.parallel import ALONE, LauncherError, launch_command, share_cores, world
from npbert.training.parallel.mpi import CHOSEN_BY
from tests.training.parallel.together import Threads

ENVIRONMENTS = [
    ({}, 1),
    ({"PMI_SIZE": "1"}, 1),
    ({"PMI_SIZE": "3", "PMI_RANK": "1"}, 3),
    ({"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, 4),
    ({"PMIX_RANK": "0"}, 0),
    ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, 1),  # in a batch script, before srun
    ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"}, 8),
]


@pytest.mark.parametrize(("environment", "count"), ENVIRONMENTS)
def test_how_many_a_launcher_has_started(environment, count):
    assert launched(environment) == count


def test_to_go_on_one_starts_the_launcher_that_was_there():
    for environment, launcher in (
        ({"PMI_SIZE": "4"}, "mpiexec"),
        ({"SLURM_STEP_NUM_TASKS": "4", "PMI_SIZE": "4"}, "srun"),
        ({"SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_SIZE": "4"}, "mpiexec"),  # which has used srun for its own
    ):
        assert launch_command(3, environment) == [launcher, "-n", "3"]


def test_without_a_launcher_mpi_is_not_looked_at(monkeypatch):
    for name in os.environ:
        if name.startswith(("OMPI", "PMI", "SLURM")):
            monkeypatch.delenv(name)
    monkeypatch.setattr("npbert.training.parallel.mpi.import_extra", lambda *_, **__: pytest.fail("it is looked at"))
    assert world() is ALONE


def test_under_a_launcher_without_mpi4py(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    with pytest.raises(MissingExtraError, match=r"mpi4py, which is not installed: .*\[mpi\]"):
        world()


@pytest.mark.parametrize("rank", [0, 1])
def test_an_mpi_that_is_not_that_of_the_launcher_is_refused_and_one_process_says_so(rank, monkeypatch):
    mpi = SimpleNamespace(COMM_WORLD=SimpleNamespace(size=1), Get_library_version=lambda: "Some MPI 1.0\nmore")
    monkeypatch.setattr("npbert.training.parallel.mpi.import_extra", lambda *_, **__: mpi)
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", str(rank))
    level = LOGGER.level
    try:
        with pytest.raises(LauncherError, match=r"has started 2 processes, and mpi4py sees 1, .* \(Some MPI 1\.0\)"):
            world()
        assert LOGGER.isEnabledFor(40) == (rank == 0)
    finally:
        LOGGER.setLevel(level)


NODES = {  # the node and the cores of each process; on how many threads each computes
    "alone on a node": ([("a", {0, 1, 2, 3}), ("b", {0, 1, 2, 3})], [4, 4], []),
    "two on a node": ([("a", {0, 1, 2, 3})] * 2, [2, 2], []),
    "each bound to cores of its own": ([("a", {0, 1}), ("a", {2, 3})], [2, 2], []),
    "three on two cores": ([("a", {0, 1})] * 3, [1, 1, 1], ["3 processes share 2 cores of a, and wait"]),
    "both bound to one core": ([("a", {0}), ("b", {0}), ("b", {0})], [1, 1, 1], ["2 processes share 1 core of b, and"]),
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
            communicator.gather = lambda _: [[node, sorted(cores)] for node, cores in everyone]
            monkeypatch.setattr(platform, "node", lambda node=node: node)
            monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False)
            share_cores(communicator)
            found.append(num_threads())
    finally:
        set_num_threads(before)
    assert found == threads
    assert [str(warning.message)[: len(line)] for warning, line in zip(recwarn, said, strict=True)] == said
