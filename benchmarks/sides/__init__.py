"""A file a side. Each has some of these functions, for the kinds of tasks that it takes part in:

training_step(task) -> Step      first_vector(task) -> the first numbers of a sentence's vector
encode(task) -> Encode           prepare(task): once, before anything is measured

Those of whole runs are in files of their own, sides/*_runs.py: pretrain(task), finetune(task) and embed(task).

A side's file is imported only in its own process.
"""

PACKAGES: dict[str, tuple[str, ...]] = {
    "npbert": (),
    "transformers": ("torch", "transformers"),
    "torch": ("torch",),
    "onnx": ("torch", "transformers", "onnxscript", "onnxruntime"),
    "products": (),
    "sentence_transformers": ("torch", "sentence_transformers"),
}
"""The sides, in the order of the table, and what each needs besides npbert."""

SIDES: dict[str, tuple[str, ...]] = {
    "train": ("npbert", "transformers", "torch", "products"),
    "encode": ("npbert", "transformers", "onnx", "products"),
    "start": ("npbert", "transformers"),
    "pretrain": ("npbert", "transformers"),
    "finetune": ("npbert", "transformers"),
    "embed": ("npbert", "transformers", "sentence_transformers"),
}
"""Which sides take part in a kind of task."""
