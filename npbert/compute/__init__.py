"""What makes it fast: products, maps, sums and scatters of arrays, on several threads. Nothing here knows a layer."""

from npbert.compute.array import Array
from npbert.compute.blocks import BLOCK, in_blocks
from npbert.compute.erf import erf
from npbert.compute.matmul import matmul
from npbert.compute.memory import keep_freed_memory
from npbert.compute.rowwise import rowwise
from npbert.compute.scatter import scatter_add
from npbert.compute.sums import dot_rows, sum_rows
from npbert.compute.threads import num_threads, run, set_num_threads, slices

__all__ = [
    "Array",
    "matmul",
    "rowwise",
    "sum_rows",
    "dot_rows",
    "scatter_add",
    "erf",
    "BLOCK",
    "in_blocks",
    "run",
    "slices",
    "num_threads",
    "set_num_threads",
    "keep_freed_memory",
]
