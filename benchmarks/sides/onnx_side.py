"""ONNX Runtime: the checkpoint, exported by torch, with all of the runtime's own optimisations."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from task import Array, Arrays, Encode, Task, num_threads

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("last_hidden_state", "pooler_output")


def prepare(task: Task) -> None:
    """Export the checkpoint into the task's folder, for batches of any size.

    Attention is written out: the runtime is quicker with that than with what comes of SDPA.
    """
    import torch
    import transformers

    model = transformers.AutoModel.from_pretrained(task.checkpoint, attn_implementation="eager").eval()
    example = {name: torch.ones((2, 8), dtype=torch.int64) for name in INPUTS}  # one tensor would be one input
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=512)}
    torch.onnx.export(
        model,
        kwargs=example,
        f=_model(task),
        input_names=INPUTS,
        output_names=OUTPUTS,
        dynamic_shapes=dict.fromkeys(INPUTS, axes),
        opset_version=23,
        verbose=False,
    )


def encode(task: Task) -> Encode:
    onnxruntime: Any = import_module("onnxruntime")  # it has no types
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads()
    session = onnxruntime.InferenceSession(_model(task), options, providers=["CPUExecutionProvider"])

    def run(batch: Arrays) -> Array:
        hidden: Array = session.run(OUTPUTS, {name: batch[name] for name in INPUTS})[0]
        return hidden

    return run


def _model(task: Task) -> str:
    return f"{task.folder}/model.onnx"
