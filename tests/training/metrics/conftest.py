"""The libraries that the metrics are compared with."""

import pytest


@pytest.fixture(scope="module")
def reference(request):
    reason = f"{request.param} is not installed: in npbert's folder, pip install '.[parity]'"
    return pytest.importorskip(request.param, reason=reason)
