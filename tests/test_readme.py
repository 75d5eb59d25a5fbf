"""README, docs/commands.md and docs/map.md: names in them exist, the map is complete. (Their code: test_docs.py.)"""

import re
import runpy
import sys
from functools import reduce
from types import SimpleNamespace

import npbert
from npbert.io.extras import EXTRAS
from tests import test_docs
from tests.test_docs import PACKAGE, ROOT, read

README, COMMANDS, MAP = map(read, (test_docs.README, test_docs.COMMANDS, test_docs.MAP))
TEXT = README + COMMANDS + MAP
DEMO = read(ROOT / "demo.py")
PROJECT = read(ROOT / "pyproject.toml")
TREE = dict(re.findall(r"^[├└]── (\w+)/(.*?)(?=^[├└`])", MAP, re.DOTALL | re.MULTILINE))


def test_the_mistake_in_the_readme_is_told_as_shown(tmp_path, capsys):
    code = re.search(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1].replace("dy.sum", "dy.mean")
    (tmp_path / "linear.py").write_text(code, encoding="utf-8")
    runpy.run_path(str(tmp_path / "linear.py"))
    assert capsys.readouterr().out.startswith(re.search(r"^FAIL: .*?(?=^```)", README, re.DOTALL | re.MULTILINE)[0])


def test_every_room_is_named_and_of_the_rooms_to_read_every_file():
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == TREE.keys()
    for room in ("core", "layers", "blocks", "models", "optim", "gradcheck"):
        files = {path.stem for path in (PACKAGE / room).rglob("*.py") if "explain" not in path.parts} - {"__init__"}
        assert files <= set(re.findall(r"\w+", TREE[room]))


def test_names_in_the_text_exist():
    for name in re.findall(r"`npbert\.([\w.]+)", TEXT):
        assert reduce(getattr, name.split("."), npbert)


def test_for_a_package_index_a_build_makes_them_addresses(monkeypatch):
    made, names = {}, ("setuptools", "setuptools.command", "setuptools.command.build_py")
    for name in names:
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(setup=made.update, build_py=object))
    monkeypatch.chdir(ROOT)
    for address, page in (("", README), ("https://web", README.replace("](", "](https://web/"))):
        monkeypatch.setenv("NPBERT_ADDRESS", address)
        runpy.run_path("setup.py")
        assert made["long_description"] == page.replace("](https://web/https:", "](https:")


def test_extras_that_it_or_the_code_names_exist():
    declared = set(re.findall(r"^(\w+) = \[", PROJECT, re.MULTILINE))
    named = {name for names in re.findall(r"\[([\w,]+)\]\"", TEXT) for name in names.split(",")}
    assert {"test", "hf", "train"} <= named <= declared
    code = "".join(map(read, PACKAGE.rglob("*.py")))
    assert {"hf"} <= {*EXTRAS, *re.findall(r"\(Extra: (\w+)", code)} <= declared


def test_with_uv_the_demo_is_a_script_that_needs_what_npbert_needs():
    """Otherwise uv would install all that the tests need, too."""
    header = "".join(re.findall(r"^# (.*\n)", re.search(r"^# /// script\n(.*?)^# ///$", DEMO, re.M | re.S)[1], re.M))
    assert re.search("^dependencies = .*$", PROJECT, re.MULTILINE).group() in header
