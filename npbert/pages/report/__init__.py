"""The report of a run: one page of pictures and tables, from what the run has left in its folder."""

from npbert.pages.report.page import REPORT_FILE, report_page, write_report
from npbert.pages.report.run import Run, read_run

__all__ = ["REPORT_FILE", "report_page", "write_report", "Run", "read_run"]
