"""The report: everything Venire can say of judgments and runs, on one page."""
