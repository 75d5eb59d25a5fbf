"""Follow one number back: a page that shows a small BERT whole, with the origin of every number."""

from npbert.pages.number.export import export
from npbert.pages.number.page import dialogue_data, number_page, write_number_page

__all__ = ["export", "dialogue_data", "number_page", "write_number_page"]
