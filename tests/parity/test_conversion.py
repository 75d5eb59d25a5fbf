"""A pytorch_model.bin: the command that npbert gives for it makes of it what npbert reads."""

import re
import shlex

import numpy as np
import pytest
import torch

from npbert import BertForPreTraining
from npbert.files import FileError
from npbert.models.hugging_face.checkpoint import hugging_face_tensors
from tests.models.hugging_face.checkpoints import assert_loads, random_float32, write_checkpoint

pytestmark = pytest.mark.torch


def test_the_command_in_the_error_converts_the_file(tmp_path):
    """It is run here, after its words are taken apart as a shell does it: a new process would import torch again."""
    folder = tmp_path / "with spaces"
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
    option, code = shlex.split(command)
    assert option == "-c"
    exec(code, {})
    assert_loads(model, folder)
