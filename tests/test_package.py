"""What holds for the package as a whole: its imports, its size, its public names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import npbert

PACKAGE = Path(npbert.__file__).parent
ROOT = Path(__file__).parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))
FLOORS = {
    **dict.fromkeys(("extras.py", "files.py", "memory.py", "threads.py", "version.py"), 0),
    "layers": 1,
    **dict.fromkeys(("optim", "data", "gradcheck"), 2),
    "models": 3,
    "inference": 4,
    "proof.py": 4,
    "training": 5,
    "cli": 6,
}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_go_down(path):
    floor = FLOORS.get(path.relative_to(PACKAGE).parts[0])
    for module in imported_modules(path):
        top, _, rest = module.partition(".")
        assert top == "npbert" or top == "numpy" or top in sys.stdlib_module_names, f"{module} is no dependency"
        if top == "npbert" and floor is not None:
            part = rest.split(".")[0]
            imported = FLOORS[part if part in FLOORS else f"{part}.py"]
            own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
            assert imported < floor or part == own, f"{module} is not below {own}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_fits_a_reader(path):
    limit = 150 if path.parent.name == "layers" else 300
    assert len(path.read_text(encoding="utf-8").splitlines()) < limit


@pytest.mark.parametrize("path", [*ROOT.glob("*.py"), *ROOT.glob("tests/**/*.py")], ids=str)
def test_so_does_every_other_file(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_public_names_are_listed_once_and_exist():
    assert len(npbert.__all__) == len(set(npbert.__all__))
    assert all(hasattr(npbert, name) for name in npbert.__all__)


def test_importing_needs_numpy_alone():
    code = "import sys, npbert, npbert.training; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "torch",
        "transformers",
        "pytest",
        "hypothesis",
        "safetensors",
        "tokenizers",
        "scipy",
        "sklearn",
        "seqeval",
        "tqdm",
        "matplotlib",
    }
    assert not heavy & set(loaded)
    assert "argparse" not in loaded
