"""What the cases start from: small right checkpoints, texts, tables and a finished run, made once for a process."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import npbert
from npbert.training.pretrain import Pretraining, PretrainSettings
from tests.fuzz.mutate import Rng, pick
from tests.inference.checkpoints import write_checkpoint, write_sentence_transformer

HEADS: dict[str, tuple[Any, dict[str, Any]]] = {
    "fill-mask": (npbert.BertForMaskedLM, {}),
    "embed": (npbert.BertModel, {}),
    "classify": (npbert.BertForSequenceClassification, {"num_labels": 2, "id2label": ("no", "yes")}),
    "regression": (npbert.BertForSequenceClassification, {"num_labels": 1}),
    "choice": (npbert.BertForMultipleChoice, {}),
    "tag": (npbert.BertForTokenClassification, {"num_labels": 3, "id2label": ("O", "B-X", "I-X")}),
    "answer": (npbert.BertForQuestionAnswering, {}),
    "pretraining": (npbert.BertForPreTraining, {}),
}
TEXTS = {
    "fill-mask": "the cat sat on the [MASK] .\na [MASK] ran\n",
    "embed": "the cat sat on the mat .\na dog ran\n",
    "classify": "the cat sat\nthe dog\tran on the road\n",
    "tag": "the cat sat\na dog ran on\n",
    "answer": '{"question": "who sat ?", "passage": "the cat sat on the mat ."}\n',
}
TABLE = "".join(
    f"{label}\t{text}\n" for label, text in [("no", "the cat sat"), ("yes", "a dog ran ."), ("no", "café")] * 3
)
SCORES = "".join(f"{score}\tthe cat\ta dog\n" for score in (0.5, 1, 2.25, 3, 4, 5))
CHOICES = "".join(f"{label}\tthe cat\ta dog\tran on\n" for label in (0, 1, 1, 0))
CONLL = "the O\ncat B-X\nsat I-X\n\na O\ndog B-X\nran O\n\non O\nthe O\nroad O\n"
ASKED = [("1", "who sat ?", "the cat", 0), ("2", "who ran ?", "a dog", 25)]
QAS = [{"id": i, "question": asked, "answers": [{"text": text, "answer_start": at}]} for i, asked, text, at in ASKED]
PASSAGE = {"context": "the cat sat on the mat . a dog ran", "qas": QAS}
SQUAD = {"version": "1.1", "data": [{"title": "cats", "paragraphs": [PASSAGE]}]}
HELD_OUT = "the mat sat on a road .\n\na cat ran on the dog .\n"
CORPUS = "\n".join(["the cat sat on the mat .", "a dog ran on the road .", "", "the cat ran .", "a dog sat ."] * 4)


class Base(NamedTuple):
    """checkpoints: a folder for each head. run: the folder of a finished run of pre-training. files: by name."""

    checkpoints: dict[str, Path]
    run: Path
    corpus: Path

    def copy(self, source: Path, folder: Path) -> Path:
        """A copy of a folder that a case may spoil."""
        return Path(shutil.copytree(source, folder / source.name))

    def copy_of_one(self, rng: Rng, folder: Path) -> tuple[str, Path]:
        """The name of one of the checkpoints, and a copy of it."""
        name = pick(rng, list(self.checkpoints))
        return name, self.copy(self.checkpoints[name], folder)


def make_base(folder: Path) -> Base:
    """Write everything into `folder`."""
    checkpoints = {"embed": write_sentence_transformer(folder / "embed", "mean", max_length=16)}
    for name, (model_class, changes) in HEADS.items():
        if name not in checkpoints:
            checkpoints[name] = write_checkpoint(folder / name, model_class, **changes)
        npbert.Tokenizer.from_pretrained(checkpoints[name]).save_pretrained(checkpoints[name])
    corpus, held_out = folder / "corpus.txt", folder / "held-out.txt"
    corpus.write_text(CORPUS, encoding="utf-8")
    held_out.write_text(HELD_OUT, encoding="utf-8")
    same = dict.fromkeys(("vocabulary", "model"), str(checkpoints["pretraining"]))
    texts = {"corpus": (str(corpus),), "held_out": (str(held_out),)}
    sizes = {"steps": 4, "batch_size": 2, "max_length": 16, "held_out_batches": 1, "save_every": 2, "log_every": 1}
    settings = PretrainSettings(**same, **texts, **sizes)
    run = folder / "run"
    Pretraining(settings, run).trainer.train()
    shutil.rmtree(run / "tensorboard")
    return Base(checkpoints, run, corpus)
