"""`npbert` and `python -m npbert`: the command line, in a process of its own."""

import io
import sys


def main() -> int:
    r"""npbert.cli.main. Ctrl-C ends it quietly while its imports, which take a while, are still under way, too.

    What the encoding of standard output does not have, as that of a pipe on Windows may not, is printed as \uXXXX.
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        from npbert.cli import main as command

        return command()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
