"""Planted twins: layers and optimisers with one mistake each, all seen in published code, for the checks to reject.

A check that lets one pass is broken. Each twin is written afresh as a short subclass of the right class.
"""
