"""Explains a wrong gradient by the small edit of the author's code that makes it right.

Begin with `repair`, which tells the algorithm. Then `grammar` (the edits as data), `vocabulary` (the expressions to
insert), `edits` (the visitor that applies them), `trial` (runs and counts), `search` (what may be wrong, and its edits
by cost), `lines` (by a right code). For a layer: `samples` (the right gradients) and `layer` (finds and replaces the
functions that run).

For other code: `numbers.explain`; a `Code`, and its `Mending` with a list of `Sample`, which have the right numbers;
each resulting `Finding`, worded by `describe` and `describe_edit`; the `KINDS` of edits by cost, where those below
`CHEAP` change existing code; and the `VARIATIONS` of numbers.
"""
