"""The core of all layers: parameters, layers, the tape between forward and backward, and sequences."""

from npbert.core.checks import IGNORED, check_ids, check_integers, check_labels
from npbert.core.layer import Layer
from npbert.core.parameter import Init, Parameter, gradients_of_a_part
from npbert.core.parts import named_parameters, named_parts
from npbert.core.sequences import Sequences
from npbert.core.tape import NO_TAPE, Tape, TapeError

__all__ = [
    "Parameter",
    "Init",
    "Layer",
    "named_parameters",
    "named_parts",
    "Tape",
    "NO_TAPE",
    "TapeError",
    "Sequences",
    "IGNORED",
    "gradients_of_a_part",
    "check_ids",
    "check_integers",
    "check_labels",
]
