"""The fast parts: products, maps, sums and scatters of arrays, on several threads. Nothing here knows a layer."""

from npbert.compute.adam import adam_steps
from npbert.compute.array import Array, DTypeLike
from npbert.compute.erf import erf
from npbert.compute.matmul import matmul
from npbert.compute.memory import keep_freed_memory
from npbert.compute.pieces import Piece, attention_pieces
from npbert.compute.rowwise import BLOCK, in_blocks, rowwise
from npbert.compute.sequencewise import sequencewise
from npbert.compute.sums import dot_rows, scatter_add, sum_rows
from npbert.compute.threads import num_threads, run, set_num_threads, slices

__all__ = ["Array", "DTypeLike", "matmul", "rowwise", "sequencewise", "Piece", "attention_pieces"]
__all__ += ["sum_rows", "dot_rows", "scatter_add", "adam_steps", "erf"]
__all__ += ["BLOCK", "in_blocks", "run", "slices", "num_threads", "set_num_threads", "keep_freed_memory"]
