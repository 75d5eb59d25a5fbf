"""Fast products, maps, sums and scatters of arrays, on several threads.

Layers call `matmul`, `rowwise`, `sum_rows` and so on, and do not know how many threads there are; only attention, and
`BertModel.encode`, give pieces of work to `run`. A batch is cut by its size before the layers see it (`cut.py`). BLAS
is held to one thread while `run` works (`blas.py`), and gets its threads back for inference that is too small to
split (`blas_lending.py`). Like io, this room is mostly for npbert itself, and hands out what it imports.
"""

from npbert.compute.array import Array as Array, DTypeLike as DTypeLike
from npbert.compute.blas import hold_blas
from npbert.compute.cut import (
    Piece,
    attention_pieces,
    bounded_parts,
    inference_parts,
    neighbours,
    strands,
    training_parts,
)
from npbert.compute.error_function import erf
from npbert.compute.memory import keep_freed_memory as keep_freed_memory
from npbert.compute.products import dot_rows, matmul, row_maxima, row_sums, scatter_add, sum_rows
from npbert.compute.rowwise import in_blocks, rowwise
from npbert.compute.threads import (
    num_threads as num_threads,
    processors,
    run,
    set_num_threads as set_num_threads,
)
