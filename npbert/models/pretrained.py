"""PreTrainedModel: what every model shares, the door for its batches and the way from and to a checkpoint."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import Layer, named_parts
from npbert.display.layers import describe_parts
from npbert.io.files import atomic_write
from npbert.models.config import BertConfig, load_config, num_parameters
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE, find_weights, hugging_face_tensors, load_model
from npbert.models.hugging_face.config import CONFIG_FILE, write_config
from npbert.models.hugging_face.names import stored_parameters
from npbert.models.hugging_face.tensors import write_tensors
from npbert.models.packed_batch import READS_ALL, AnyBatch, PackedBatch

Model = TypeVar("Model", bound="PreTrainedModel")


class PreTrainedModel(Layer):
    """A model with a configuration, which can be read from a folder and written to one, as Hugging Face has them.

    A subclass is made with `(config, *, rng, dtype)`, and calls its BERT `bert`, or is one. rng: where the initial
    weights are drawn from; None leaves them 0, for a model about to be loaded. dtype: of all parameters.

    Parameters of its own are saved and loaded, too; docs/own_head.md shows how such a model is written, from start to
    finish.
    """

    config: BertConfig
    reads = READS_ALL
    _new: Mapping[str, Array] = MappingProxyType({})  # by name, what the file did not have, as it was drawn
    _file: tuple[int, int, int] | None = None  # the one that this model was read from, or saved to, last

    def __repr__(self) -> str:
        """As of a layer; and which parameters of a new head are still as they were drawn."""
        now = stored_parameters(self) if self._new else {}
        new = [name for name, drawn in self._new.items() if np.array_equal(now[name].parameter.value, drawn)]
        note = f"new and not trained: {', '.join(new)}" if new else ""
        return describe_parts(named_parts(self), note)

    def num_parameters(self) -> int:
        """How many numbers the model has; a parameter that is shared counts once."""
        return sum(parameter.value.size for parameter in self.parameters())

    def pack(self, batch: AnyBatch) -> PackedBatch:
        """The batch as this model reads it. A PackedBatch stays as it is: what is checked is not checked again.

        Raises: as PackedBatch.
        """
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
        """The model in `folder`: config.json and model.safetensors. (Extra: hf.)

        changes: other values for fields of the configuration (`num_labels=3`, say), or what else the constructor takes.
        dtype: of the parameters; that of the file does not matter.
        rng: where a head that the file does not have is drawn from, by default from seed 0. Such a head is as the
        constructor makes it.
        new_head: True starts the head of a task anew even if the file has it; False forbids any head to be new: what is
        missing is an error then.

        A head that is new is a note (INFO) on the logger npbert.
        Raises: FileNotFoundError or FileError that names the file and says what is wrong with it: load_config has one
        list, load_model the other.
        """
        folder = Path(folder)
        config = load_config(folder)
        if "num_labels" in changes:
            changes.setdefault("id2label", None)  # the names in the file belong to its own number of labels
        elif changes.get("id2label") is not None:
            changes["num_labels"] = len(changes["id2label"])
        names = {field.name for field in fields(BertConfig)}
        config = replace(config, **{name: value for name, value in changes.items() if name in names})
        others = {name: value for name, value in changes.items() if name not in names}
        weights = find_weights(folder)
        model = load_model(
            lambda rng: cls(config, rng=rng, dtype=dtype, **others),  # type: ignore[call-arg]  # each class takes these
            weights,
            rng=np.random.default_rng(0) if rng is None else rng,
            new_head=new_head,
            size=num_parameters(config) + config.hidden_size * config.num_labels,
        )
        model._file = _identity(weights)
        return model

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write config.json and model.safetensors into `folder`, which is made if need be. (Extra: hf.)

        transformers loads them with its class of the same name. Both files are complete before either takes the place
        of an old one, so a crash leaves the old files whole. stored_parameters says what a parameter is called there.

        overwrite: replace a model that is in the folder already. The file that this very model was read from, or has
        written, as after an earlier epoch, is replaced in any case.

        Raises: FileExistsError for a folder that holds another model; ValueError that names two parameters which would
        have one name in the file.
        """
        folder = Path(folder)
        weights = folder / WEIGHTS_FILE
        if not overwrite and weights.exists() and _identity(weights) != self._file:
            raise FileExistsError(f"{folder} already has another model; to replace it, give overwrite=True")
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / CONFIG_FILE) as config_path, atomic_write(weights) as weights_path:
            write_config(
                config_path, self.config, architecture=type(self).__name__, dtype=self.parameters()[0].value.dtype
            )
            write_tensors(weights_path, hugging_face_tensors(self), {"format": "pt"})  # transformers looks for "pt"
        self._file = _identity(weights)


def _identity(path: Path) -> tuple[int, int, int]:
    """Marks that tell a file from any other, and from one that was written to its place later."""
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_mtime_ns
