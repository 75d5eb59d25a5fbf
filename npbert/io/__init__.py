"""Files, streams, messages and errors, settings, optional libraries, and launchers."""

from npbert.io.errors import (
    InputError,
    InputIndexError,
    InputWarning,
    Place,
    Setting,
    Wanted,
    at_least,
    one_of,
    worded_by,
)
from npbert.io.extras import how_to_install, import_extra
from npbert.io.files import (
    FileError,
    atomic_write,
    check_writable,
    model_folder,
    read_json_object,
    write_where_asked,
)
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, MOST_ROWS, SHOWN_FILE, read_json_lines
from npbert.io.launcher import launched, launched_rank
from npbert.io.messages import LOGGER, counted, did_you_mean, in_words, is_quiet, printable, quiet
from npbert.io.settings import KINDS, MANY, Settings, check_values, kind_of, setting
from npbert.io.streams import JSON_LINES, STANDARD_INPUT, name_of, read_all, read_lines, read_texts, write_json_lines

__all__ = [
    "InputError",
    "InputIndexError",
    "InputWarning",
    "Place",
    "Setting",
    "Wanted",
    "at_least",
    "one_of",
    "worded_by",
    "how_to_install",
    "import_extra",
    "FileError",
    "atomic_write",
    "check_writable",
    "model_folder",
    "read_json_object",
    "write_where_asked",
    "LAYERS_FILE",
    "METRICS_FILE",
    "MOST_ROWS",
    "SHOWN_FILE",
    "read_json_lines",
    "launched",
    "launched_rank",
    "LOGGER",
    "counted",
    "did_you_mean",
    "in_words",
    "is_quiet",
    "printable",
    "quiet",
    "KINDS",
    "MANY",
    "Settings",
    "check_values",
    "kind_of",
    "setting",
    "JSON_LINES",
    "STANDARD_INPUT",
    "name_of",
    "read_all",
    "read_lines",
    "read_texts",
    "write_json_lines",
]
