"""Objects as text: for print, notebooks and errors."""

from npbert.display.text import Text, in_short, shown_in_short, titled, with_title

__all__ = ["Text", "titled", "with_title", "in_short", "shown_in_short"]
