"""Optional libraries, imported at their first use."""

import importlib
from pathlib import Path
from types import ModuleType

EXTRAS = {
    "hf": ("safetensors", "tokenizers", "tqdm"),
    "plot": ("matplotlib",),
    "train": ("jinja2", "tensorboard", "tomlkit", "filelock"),
    "sklearn": ("sklearn",),
    "mpi": ("mpi4py",),
    "site": ("sphinx", "myst_parser", "furo"),
    "threads": ("threadpoolctl",),
    "test": ("pytest",),
}
"""The packages that each extra installs, by the names of their modules."""


def import_extra(module: str) -> ModuleType:
    """Import and return a module of a package in EXTRAS. Raises: ImportError, with the command to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        (extra,) = (extra for extra, packages in EXTRAS.items() if package in packages)
        raise ImportError(
            f"the package {package.replace('_', '-')} is missing; to install it: {how_to_install(extra)}"
        ) from error


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, for a checkout (also with uv) or an installed package."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f'in {checkout}, pip install -e ".[{extra}]", or start commands with uv run --extra {extra} npbert'
    return f'pip install "npbert[{extra}]"'
