"""Hugging Face's files: reads and writes configuration and weights."""

from npbert.models.hugging_face.config import CONFIG_FILE, read_config, write_config
from npbert.models.hugging_face.tensors import TensorFile, write_tensors

__all__ = ["CONFIG_FILE", "read_config", "write_config", "TensorFile", "write_tensors"]
