"""A pytorch_model.bin of torch, which the command that npbert gives for it converts."""

import re
import shlex

import numpy as np
import pytest

from npbert import BertForPreTraining
from npbert.io.files import FileError
from npbert.models.hugging_face.checkpoint import hugging_face_tensors
from tests.later import later
from tests.models.hugging_face.checkpoints import assert_loads, random_float32, write_checkpoint
from tests.parity import torch

safetensors = later("safetensors.torch", "-e '.[hf]'")

pytestmark = pytest.mark.torch


def test_the_command_in_the_error_converts_the_file(tmp_path, monkeypatch):
    """It is run here, after its words are taken apart as a shell does it: a new process would import torch again."""
    folder = tmp_path / "with spaces, $(a command) and 'quotes'"
    folder.mkdir()
    model = random_float32(BertForPreTraining)
    write_checkpoint(folder, model)
    (folder / "model.safetensors").unlink()

    state = {name: torch.tensor(np.ascontiguousarray(tensor)) for name, tensor in hugging_face_tensors(model).items()}
    state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]  # one memory, two names
    state["cls.predictions.transform.dense.weight"] = state["cls.predictions.transform.dense.weight"].T.contiguous().T
    state["bert.embeddings.position_ids"] = torch.arange(5)[None]
    torch.save(state, folder / "pytorch_model.bin")

    with pytest.raises(FileError) as caught:
        BertForPreTraining.from_pretrained(folder)
    command = re.search(r"python (-c .*)$", str(caught.value))[1]
    option, code, *paths = shlex.split(command)
    assert option == "-c" and "$" not in code
    monkeypatch.setattr("sys.argv", ["-c", *paths])
    exec(code, {})
    assert_loads(model, folder)
