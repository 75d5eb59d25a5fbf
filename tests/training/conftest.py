"""A library that numbers are compared with."""

import pytest


@pytest.fixture(scope="module")
def reference(request):
    """A library that a metric is compared with."""
    reason = f"{request.param} is not installed: pip install -e '.[parity]'"
    return pytest.importorskip(request.param, reason=reason)
