"""Hugging Face's files: configuration and weights, in and out."""

from npbert.models.hugging_face.config import CONFIG_FILE, read_config, write_config
from npbert.models.hugging_face.tensors import TensorFile, write_tensors

__all__ = ["CONFIG_FILE", "read_config", "write_config", "TensorFile", "write_tensors"]
