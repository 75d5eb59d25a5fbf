"""Processes as threads: the same code as with MPI, in milliseconds, and without a launcher."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from npbert.training.parallel import ALONE, Communicator, TreeSum

LONGEST = 300  # seconds that one waits for another: a hang fails


class Threads(Communicator):
    """One of `size` threads that meet at a barrier, and leave in `table` what the others are to read."""

    def __init__(self, rank, size, table, barrier):
        self.rank, self.size, self.table, self.barrier = rank, size, table, barrier

    def exchange(self, value):
        self.table[self.rank] = value
        self.barrier.wait(LONGEST)
        everyone = list(self.table)
        self.barrier.wait(LONGEST)
        return everyone

    def gather(self, value):
        return [pickle.loads(each) for each in self.exchange(pickle.dumps(value))]

    def scatter_sum(self, sums, array, edges):
        own, total = slice(*edges[self.rank : self.rank + 2]), TreeSum(sums.count)
        everyone = self.exchange({node: row.copy() for node, (row,) in sums.waiting.items()})
        for distance in range(self.size):
            for node, row in everyone[(self.rank - distance) % self.size].items():
                total.add(node, [row[own].copy()])
        array[own] = total.whole[0]

    def spread(self, array, edges):
        array[:] = np.concatenate(self.exchange(array[slice(*edges[self.rank : self.rank + 2])].copy()))

    def collect(self, share, edges):
        everyone = self.exchange(share.copy())
        return np.concatenate(everyone) if self.is_first else None


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
