"""Libraries that NumPy-only npbert can do without: imported where they are first needed."""

import importlib
from pathlib import Path
from types import ModuleType


class MissingExtraError(ImportError):
    """A library is needed that is not installed; the message says how to install it."""


def import_extra(module: str, *, extra: str) -> ModuleType:
    """The module called `module`, which is installed with the extra called `extra`. Raises: MissingExtraError."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise MissingExtraError(f"the package {package} is missing; to install it: {how_to_install(extra)}") from error


def how_to_install(extra: str) -> str:
    """The command that installs an extra, beside the npbert that is running: a checkout, or an installed package. In a
    checkout there is uv's way, too."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f'in {checkout}, pip install -e ".[{extra}]", or start commands with uv run --extra {extra} npbert'
    return f'pip install "npbert[{extra}]"'
