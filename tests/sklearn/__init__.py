"""Skipped without scikit-learn, or the libraries that a run of training needs."""

from tests.later import needs

for _library in ("sklearn", "tomlkit", "safetensors", "tokenizers"):
    needs(_library, "-e '.[sklearn]'")
