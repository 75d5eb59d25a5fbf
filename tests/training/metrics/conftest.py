"""The libraries that the metrics are compared with."""

import pytest


@pytest.fixture(scope="module")
def reference(request):
    reason = f"{request.param} is not installed: pip install -e '.[parity]'"
    return pytest.importorskip(request.param, reason=reason)
