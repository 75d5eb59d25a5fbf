"""A library that numbers are compared with."""

import pytest


@pytest.fixture(scope="module")
def reference(request):
    """A library that a metric is compared with."""
    library = request.param.partition(".")[0]
    return pytest.importorskip(request.param, reason=f"{library} is not installed: pip install -e '.[parity]'")
