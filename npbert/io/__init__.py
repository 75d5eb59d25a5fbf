"""Files, streams, messages and errors, settings, optional libraries, and launchers.

This room is for npbert itself: it hands out what it imports, without `__all__`.
"""

from npbert.io.errors import (
    POSITIVE,
    RATE,
    STANDARD_INPUT,
    InputError,
    InputIndexError,
    Place,
    Setting,
    Wanted,
    at_least,
    one_of,
    worded_by,
)
from npbert.io.extras import EXTRAS, how_to_install, import_extra
from npbert.io.files import (
    LARGEST_OBJECT,
    FileError,
    as_file_error,
    atomic_write,
    check_writable,
    model_file,
    model_folder,
    naming,
    parse_json,
    read_json,
    read_text,
    remove_leftovers,
    write_json,
    write_text,
    write_where_asked,
)
from npbert.io.launcher import ALONE, Communicator, launched, launched_rank
from npbert.io.lines import (
    JSON_LINES,
    LAYERS_FILE,
    METRICS_FILE,
    SHOWN_FILE,
    append_row,
    drop_rows,
    read_all,
    read_json_lines,
    read_lines,
    read_texts,
    write_json_lines,
)
from npbert.io.messages import (
    LOGGER,
    counted,
    did_you_mean,
    in_words,
    is_quiet,
    listed,
    messages_on_standard_error,
    note,
    printable,
    quiet,
    tell,
    warn,
)
from npbert.io.settings import Settings, setting
