"""Runs here draw no picture: one takes longer than a run. test_plot.py looks at them."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def no_picture() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("npbert.training.session.draw_curves", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def reference(request):
    """A library that a metric is compared with."""
    reason = f"{request.param} is not installed: pip install -e '.[parity]'"
    return pytest.importorskip(request.param, reason=reason)
