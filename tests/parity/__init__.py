"""npbert against PyTorch: all of it is skipped where torch is missing, before any module here asks for it."""

from tests.later import later

torch = later("torch", "torch==2.13.0")
