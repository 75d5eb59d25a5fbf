"""Memory: what was freed is kept for the next array.

A step frees and makes the same large arrays over and over. The C library gives much of that back to the system at once,
and the system clears each page again before it hands it out: a fifth of the time of an inference. The largest arrays it
would take from the system each time anew: the logits over a large vocabulary, a tenth of the time of a training step.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # the names of the two settings in malloc.h
_KEPT = 2**30  # bytes; what is free at the end of the heap beyond this goes back to the system
_BESIDE_THE_HEAP = 0  # so many arrays at a time get memory of their own from the system, cleared page by page


def keep_freed_memory() -> bool:
    """Ask the C library, for the whole process, to keep what is freed. False where it is not glibc, the only one that
    can be asked."""
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all([mallopt(_TRIM_THRESHOLD, _KEPT), mallopt(_MMAP_MAX, _BESIDE_THE_HEAP)])
