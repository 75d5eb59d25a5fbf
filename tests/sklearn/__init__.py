"""Skipped without scikit-learn, or the libraries that a run of training needs."""

import pytest

for _library in ("sklearn", "tomlkit", "safetensors", "tokenizers"):
    pytest.importorskip(_library, reason=f"{_library} is not installed: pip install -e '.[sklearn]'")
