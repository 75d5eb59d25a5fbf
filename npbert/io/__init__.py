"""Files, messages and errors, optional libraries, and launchers."""

from npbert.io.errors import InputError, InputIndexError, InputWarning
from npbert.io.extras import MissingExtraError
from npbert.io.files import FileError, atomic_write

__all__ = ["InputError", "InputIndexError", "InputWarning", "FileError", "MissingExtraError", "atomic_write"]
