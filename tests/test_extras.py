"""Libraries that npbert can do without."""

import re
import sys
from pathlib import Path

import pytest

import npbert
from npbert.extras import MissingExtraError, import_extra

PACKAGE = Path(npbert.__file__).parent


def test_what_is_there_is_imported():
    assert import_extra("json.decoder", extra="hf") is sys.modules["json.decoder"]


def test_what_is_not_there_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "safetensors.numpy", raising=False)
    for module in ("safetensors", "safetensors.numpy"):
        with pytest.raises(MissingExtraError) as caught:
            import_extra(module, extra="hf")
        assert str(caught.value) == (
            "this needs the package safetensors, which is not installed: in npbert's folder, pip install '.[hf]'"
        )
    assert issubclass(MissingExtraError, ImportError)


def test_every_extra_that_the_code_names_exists():
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    named = {extra for source in sources for extra in re.findall(r'extra="(\w+)"', source)}
    named |= {extra for source in sources for extra in re.findall(r"\(Extra: (\w+)", source)}
    declared = re.findall(r"^(\w+) = \[", (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert "hf" in named
    assert named <= set(declared)
