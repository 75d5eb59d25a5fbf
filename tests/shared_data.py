"""Real text and labels that lie beside the repository, for tests that read what nobody here wrote."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_data() -> Path:
    """The folder shared/data beside the repository; where there is none, the test that asks is skipped."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the shared data sets are not there: no folder {folder}")
    return folder
