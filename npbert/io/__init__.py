"""Where npbert meets the machine and people: files, messages and errors, libraries that may be missing, launchers."""

from npbert.io.errors import InputError, InputIndexError, InputWarning
from npbert.io.extras import MissingExtraError
from npbert.io.files import FileError, atomic_write

__all__ = ["InputError", "InputIndexError", "InputWarning", "FileError", "MissingExtraError", "atomic_write"]
