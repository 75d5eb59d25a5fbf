"""The report of a run: one page of pictures and tables, from the files in its folder."""

from npbert.pages.report.page import (
    COMPARISON_FILE,
    REPORT_FILE,
    comparison_page,
    report_page,
    write_report,
)
from npbert.pages.report.run import RunFiles, read_run

__all__ = ["REPORT_FILE", "COMPARISON_FILE", "report_page", "write_report", "comparison_page"]
__all__ += ["RunFiles", "read_run"]
