"""`python -m npbert` is the command `npbert`."""

import sys

from npbert.cli import main

sys.exit(main())
