"""Processes as threads: the same code as with MPI, in milliseconds, and without a launcher."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

from npbert.io import ALONE, Communicator

LONGEST = 300  # seconds that one waits for another: a hang fails


class Threads(Communicator):
    """One of `size` threads that meet at a barrier, and leave in `table` what the others are to read."""

    def __init__(self, rank, size, table, barrier):
        self.rank, self.size, self.table, self.barrier = rank, size, table, barrier

    def exchange(self, values):
        self.table[self.rank] = pickle.dumps(values)
        self.barrier.wait(LONGEST)
        received = [pickle.loads(theirs)[self.rank] for theirs in self.table]
        self.barrier.wait(LONGEST)
        received[self.rank] = values[self.rank]
        return received


def together(size, work):
    """work(communicator) on `size` threads, or alone for 0; the results in order. Raises what the first one raises."""
    if size == 0:
        return [work(ALONE)]
    table, barrier = [None] * size, threading.Barrier(size)

    def one(rank):
        try:
            return work(Threads(rank, size, table, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(one, rank) for rank in range(size)]
    errors = [future.exception() for future in futures if future.exception()]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
    return [future.result() for future in futures]
