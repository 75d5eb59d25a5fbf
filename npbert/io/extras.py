"""Optional libraries, imported at their first use."""

import importlib
from pathlib import Path
from types import ModuleType


class MissingExtraError(ImportError):
    """A library is missing. The message has the command to install it."""


def import_extra(module: str, *, extra: str) -> ModuleType:
    """Import and return a module that the extra `extra` installs. Raises: MissingExtraError."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise MissingExtraError(f"the package {package} is missing; to install it: {how_to_install(extra)}") from error


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, for a checkout (also with uv) or an installed package."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f'in {checkout}, pip install -e ".[{extra}]", or start commands with uv run --extra {extra} npbert'
    return f'pip install "npbert[{extra}]"'
