"""Pictures need matplotlib."""

import pytest

pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed: pip install -e '.[plot]'")
