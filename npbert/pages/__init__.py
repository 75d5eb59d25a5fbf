"""HTML pages: a number followed back through a BERT, the report of a run, and the site of source and docs."""

from npbert.pages.number.export import dialogue_data, export
from npbert.pages.number.page import write_number_page

__all__ = ["write_number_page", "dialogue_data", "export"]
