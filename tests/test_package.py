"""The house: who may know whom, how long a file is, what a room hands out, what each thing says that it is, how a layer
is called, and what importing it does."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_origin

import pytest

import npbert
from npbert import NO_TAPE, Layer
from tests.test_docs import PACKAGE, ROOT

FILES = sorted({*PACKAGE.rglob("*.py")} - {PACKAGE / "demo.py"})  # a wheel has it there
WRITTEN = [path for kind in ("css", "html", "js") for path in sorted(PACKAGE.rglob(f"*.{kind}"))]
LAYER_FILES = [path for path in FILES if path.parent.name in ("layers", "blocks")]
BELOW_MODELS = "blocks layers core compute data io display"
UPPER = f"training plots inference models optim gradcheck catalogue shapes {BELOW_MODELS}"
KNOWS = {  # each room, from the bottom up, and all that it may import from
    **dict.fromkeys(("io", "display", "compute"), ""),
    "core": "compute display",
    **dict.fromkeys(("optim", "layers"), "core compute"),
    "gradcheck": "core compute io display",
    "pytest_plugin": "gradcheck io",
    "data": "core compute io display",
    "blocks": "layers core compute",
    "models": BELOW_MODELS,
    "shapes": "core compute",
    "inference": f"models {BELOW_MODELS}",
    "plots": f"inference models {BELOW_MODELS}",
    "training": f"plots inference models optim {BELOW_MODELS}",
    "catalogue": f"training models gradcheck shapes {BELOW_MODELS}",
    "sklearn": f"training inference models {BELOW_MODELS}",
    "learn": UPPER,
    "pages": f"learn {UPPER}",
    "cli": f"pages learn {UPPER}",
    "__main__": "cli io",
    "__init__": f"learn sklearn {UPPER}",
}
ROOMS = sorted({path.parent for path in PACKAGE.rglob("__init__.py")} - {PACKAGE, PACKAGE / "cli"})
WITHOUT = () if importlib.util.find_spec("sklearn") else ("npbert.sklearn",)
"""Classes that inherit from scikit-learn's cannot be without it."""


def name_of(path):
    """The path inside the repository; npbert itself may be installed elsewhere."""
    return path.relative_to(PACKAGE.parent if PACKAGE in path.parents else ROOT).as_posix()


@cache
def imports(path):
    """(module, names) of each import in a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports say whole names"
            found.append((node.module, [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
    return found


def test_imports_only_go_down():
    rooms = list(KNOWS)
    assert all(set(known.split()) <= set(rooms[:number]) for number, known in enumerate(KNOWS.values())), "a circle"
    for path in FILES:
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for module, names in imports(path):
            top, _, rest = module.partition(".")
            is_type = (top, path.name) == ("tokenizers", "batch.py")  # for mypy alone
            assert is_type or top in ("npbert", "numpy", *sys.stdlib_module_names), f"{module} is no dependency"
            if top == "npbert":
                known = {rest.split(".")[0]} if rest else set(names)
                assert known <= {room, *KNOWS[room].split()}, f"{name_of(path)} must not know {module}"


def test_a_file_fits_a_reader():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
    tests_and_others = [*ROOT.glob("*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in [*FILES, *WRITTEN, *tests_and_others]}
    assert [name_of(path) for path, length in lengths.items() if length > (149 if path in LAYER_FILES else 300)] == []


def test_a_layer_is_its_equation_and_no_machinery():
    """No second forward, and no word of threads, blocks or pieces; attention runs its pieces on threads."""
    machinery = re.compile(r"\b(BLOCK|BLAS|in_blocks|slices|num_threads|set_num_threads)\b|def __call__")
    for path in LAYER_FILES:
        assert not machinery.search(path.read_text(encoding="utf-8")), name_of(path)
        taken = {name for module, names in imports(path) if module.startswith("npbert.compute") for name in names}
        assert "run" not in taken or path.stem.endswith("_attention"), name_of(path)


def handed_out(module):
    """The names of a room, or of a file that is one. What io and compute import they hand out, as npbert's own."""
    if module in (npbert.io, npbert.compute):
        return [name for _, names in imports(Path(module.__file__)) for name in names]
    return getattr(module, "__all__", [])


def test_a_room_hands_out_its_own_things_alone():
    packages = {f"npbert.{room.relative_to(PACKAGE).as_posix()}".replace("/", "."): room for room in ROOMS}
    for package in packages.keys() - set(WITHOUT):
        room = packages[package]
        listed = handed_out(importlib.import_module(package))
        of = {name: module for module, names in imports(room / "__init__.py") for name in names}
        assert len(listed) == len(set(listed)), package
        assert [name for name in listed if not of.get(name, package).startswith(package)] == []
        assert [name for name, module in of.items() if module.startswith(package) and name not in listed] == []


def test_all_public_names_are_listed_once():
    names = npbert.__all__
    assert len(names) == len(set(names)) and set(names) <= set(dir(npbert))
    rooms = [getattr(npbert, room) for room in npbert._ROOMS if f"npbert.{room}" not in WITHOUT and "." not in room]
    for name in set(names) - {"__version__", "finetune"}:
        (room,) = (room for room in rooms if name in handed_out(room))
        assert getattr(npbert, name) is getattr(room, name)
    for room in (npbert.core, npbert.layers, npbert.blocks):
        assert {name for name in room.__all__ if isinstance(getattr(room, name), type)} <= set(names)


@cache
def things():
    """By its whole name, each class and function that a room hands out. All modules are imported."""
    names = [info.name for info in pkgutil.walk_packages(npbert.__path__, "npbert.")]
    names = [name for name in names if not name.endswith(("__main__", "npbert.demo")) and not name.startswith(WITHOUT)]
    found = {}
    for module in [npbert, *map(importlib.import_module, names)]:
        for name in handed_out(module):
            thing = getattr(module, name)
            # to Python 3.10 an alias such as list[int] is a class, too
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and get_origin(thing) is None:
                found[f"{thing.__module__}.{name}"] = thing
    return found


def descendants(base):
    for child in base.__subclasses__():
        yield child
        yield from descendants(child)


OURS = re.compile(r"npbert\.(?!learn\.exercises)")  # exercises hold mistakes, which nobody explains


def test_every_public_thing_says_what_it_is():
    """Dataclasses and named tuples that say nothing get a docstring made up by Python, which begins with a call."""
    said = {}
    for whole_name, thing in things().items():
        made_up = f"{thing.__name__}(" if inspect.isclass(thing) else "\0"
        assert thing.__doc__ and not thing.__doc__.startswith(made_up), whole_name
        said[whole_name] = inspect.getdoc(thing)
        for name, member in vars(thing).items():
            if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod):
                said[f"{whole_name}.{name}"] = text = inspect.getdoc(getattr(thing, name))
                assert name.startswith("_") or text, f"{whole_name}.{name}"
    docutils = pytest.importorskip("docutils.core", reason="Sphinx is not installed: pip install -e '.[site]'")
    for name, text in said.items():
        docutils.publish_doctree(text or "", name, settings_overrides={"halt_level": 2})


def test_forward_takes_a_tape_last_and_backward_a_gradient_and_the_tape():
    assert things()
    for layer in {each for each in descendants(Layer) if OURS.match(each.__module__) and "forward" in vars(each)}:
        *_, last = inspect.signature(layer.forward).parameters.values()
        assert (last.name, last.default) == ("tape", NO_TAPE), layer
        _, gradient, tape = inspect.signature(layer.backward).parameters.values()
        assert gradient.name.startswith("d") and gradient.default is inspect.Parameter.empty, layer
        assert (tape.name, tape.default) == ("tape", inspect.Parameter.empty), layer
        assert layer.backward.__doc__, f"{layer}: the derivative, and why"


IMPORT = """
import sys
before = set(sys.modules)
import npbert
print(*(name for name in sys.modules if name.startswith(("npbert.", "numpy"))))
import npbert.training
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""


def printed_by(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_needs_numpy_alone_and_help_not_even_that():
    first, loaded = printed_by(IMPORT).splitlines()
    assert first == "", "the rest comes with the first name that is used"
    assert {name for name in loaded.split() if "cython" not in name} - sys.stdlib_module_names == {"npbert", "numpy"}
    assert "argparse" not in loaded.split()
    helped = printed_by("import sys; from npbert.cli import main\nmain(['--help']); print(sorted(sys.modules))")
    assert "gradcheck    prove" in helped
    assert "'numpy'" not in helped and "'npbert.cli.training'" not in helped and "'npbert.cli.command'" in helped
