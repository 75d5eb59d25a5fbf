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


@pytest.mark.parametrize("module", ["safetensors", "safetensors.numpy"])
def test_what_is_not_there_says_how_to_install_it(module, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "safetensors.numpy", raising=False)
    wanted = r"this needs the package safetensors, which is not installed: in npbert's folder, pip install '\.\[hf\]'"
    with pytest.raises(MissingExtraError, match=f"^{wanted}$") as caught:
        import_extra(module, extra="hf")
    assert isinstance(caught.value, ImportError)


def test_every_extra_that_the_code_names_exists():
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r'(?:extra="|\(Extra: )(\w+)', text))
    declared = re.findall(r"^(\w+) = \[", (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"hf"} <= named <= set(declared)
