"""Follow one number back: a page on which a small BERT is seen whole, and every number says where it is from."""

from npbert.pages.number.export import export
from npbert.pages.number.page import number_page, write_number_page

__all__ = ["export", "number_page", "write_number_page"]
