"""Keeps freed memory for the next array.

Each step allocates and frees the same large arrays. By default the C library returns much of this memory to the system,
which clears each page before the next use: a fifth of the time of an inference. The largest arrays, such as the logits
over a large vocabulary, always come from the system: a tenth of the time of a training step.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # the two settings in malloc.h
_KEPT = 2**30  # bytes; free memory at the end of the heap beyond this returns to the system
_BESIDE_THE_HEAP = 0  # the number of arrays with separate memory from the system


def keep_freed_memory() -> bool:
    """Make the C library keep freed memory, for the whole process. Returns False if it is not glibc, which alone
    can."""
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all([mallopt(_TRIM_THRESHOLD, _KEPT), mallopt(_MMAP_MAX, _BESIDE_THE_HEAP)])
