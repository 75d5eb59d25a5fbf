"""HTML pages: a number followed back through a BERT, the report of a run, and the site of source and docs."""

from npbert.pages.number.page import write_dialogue_page, write_number_page

__all__ = ["write_number_page", "write_dialogue_page"]
