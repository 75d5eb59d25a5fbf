"""What an object says of itself: one plain Sheet, which is written as text, and in a notebook as HTML."""

from npbert.display.sheet import Curve, Row, Sheet, Shown, Token
from npbert.display.values import in_short, shown_in_short

__all__ = ["Shown", "Sheet", "Row", "Token", "Curve", "in_short", "shown_in_short"]
