"""`npbert` and `python -m npbert`: the command line, in a process of its own."""

import sys

from npbert.io.messages import print_any_letter


def main() -> int:
    """Run npbert.cli.main. Ctrl-C ends it quietly, also during its slow imports."""
    try:
        print_any_letter()
        from npbert.cli import main as command

        return command()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
