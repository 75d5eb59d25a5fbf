"""Pictures need matplotlib."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def matplotlib():
    pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed: pip install -e '.[plot]'")
