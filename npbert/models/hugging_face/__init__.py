"""Hugging Face's files: reads and writes configuration and weights."""

from npbert.models.hugging_face.tensors import TensorFile

__all__ = ["TensorFile"]
