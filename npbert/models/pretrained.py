"""PreTrainedModel: the base class of all models. It packs batches, and loads and saves checkpoints."""

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from npbert.compute import DTypeLike
from npbert.core import Layer
from npbert.core.parameter import LazyGenerator
from npbert.io import atomic_write
from npbert.models.config import CONFIG_FILE, BertConfig, load_config
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, fill_model, hugging_face_tensors, open_weights
from npbert.models.hugging_face.tensors import write_tensors
from npbert.models.packed_batch import READS_ALL, AnyBatch, PackedBatch

Model = TypeVar("Model", bound="PreTrainedModel")


class PreTrainedModel(Layer):
    """Base class of a model with a configuration, with load and save in Hugging Face's format.

    A subclass takes `(config, *, rng, dtype)`, and has its BERT as `bert`, or is one.

    rng: draws the initial weights; None: they are 0, for a model about to be loaded. dtype: of all parameters.

    Further parameters are saved and loaded, too. docs/own_head.md writes such a model from start to finish.
    """

    config: BertConfig
    reads = READS_ALL

    def num_parameters(self) -> int:
        """Return the number of parameters; a shared one counts once."""
        return sum(parameter.value.size for parameter in self.parameters())

    def pack(self, batch: AnyBatch) -> PackedBatch:
        """Return the PackedBatch of a batch. A PackedBatch is returned unchanged. Raises: as PackedBatch."""
        return batch if isinstance(batch, PackedBatch) else PackedBatch(batch, self.config, self.reads)

    @classmethod
    def from_pretrained(
        cls: type[Model],
        folder: str | Path,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
        new_head: bool | None = None,
        **changes: Any,
    ) -> Model:
        """Return the model in `folder`: config.json and model.safetensors. (Extra: hf.)

        changes: new values for fields of the configuration, such as `num_labels=3`, or further arguments of the
        constructor.
        dtype: of the parameters; the file may have another.
        rng: draws a head that is missing in the file; by default from seed 0.
        new_head: True draws the head of a task even if the file has one; False makes a missing head an error.

        A new head is a note (INFO) on the logger npbert.

        Raises: FileNotFoundError or FileError: see load_config and fill_model.
        """
        config = load_config(folder)
        if "num_labels" in changes:
            changes.setdefault("id2label", None)  # the names in the file are for its number of labels
        elif changes.get("id2label") is not None:
            changes["num_labels"] = len(changes["id2label"])
        config = replace(config, **{name: changes.pop(name) for name in vars(config) if name in changes})
        file = open_weights(folder, config)
        lazy = LazyGenerator((rng or np.random.default_rng(0)).bit_generator)
        model = cls(config, rng=lazy, dtype=dtype, **changes)  # type: ignore[call-arg]  # each class takes these
        fill_model(model, file, new_head=new_head)
        return model

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write config.json and model.safetensors into `folder`, and create it if it is missing. (Extra: hf.)

        transformers loads them with its class of the same name. Both files are complete before they replace old ones,
        so a crash leaves the old files whole. stored_parameters gives the names in the file.

        overwrite: replace a model in the folder.

        Raises: FileExistsError for a folder with a model, unless `overwrite`; ValueError for two parameters with the
        same name in the file.
        """
        folder = Path(folder)
        weights = folder / WEIGHTS_FILE
        if not overwrite and weights.exists():
            raise FileExistsError(f"{folder} already has a model; to replace it, give overwrite=True")
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(weights) as path:
            write_tensors(path, hugging_face_tensors(self), {"format": "pt"})  # transformers expects "pt"
            dtype = self.parameters()[0].value.dtype
            self.config.write(folder / CONFIG_FILE, model=type(self).__name__, dtype=dtype)
