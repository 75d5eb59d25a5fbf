"""Attacks on the check: wrong backwards that must not pass, right ones that must, and what may be left behind.

Calling code shows how it computes, and no more. So no check of this kind sees a wrong backward that looks at the
identity of its memory or at strides, that goes wrong only at a call which the check does not make, or that draws fresh
numbers which happen to agree; and arrays of float32 that are given to plain functions are checked as float64. An
np.matrix is refused.
"""
