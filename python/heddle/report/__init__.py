"""Reports of studies: one HTML page, pictures and a table."""

from __future__ import annotations

from pathlib import Path


def write_report(folder: Path) -> Path:
    """Writes `folder`/report: report.html, a picture per SVG file, table.csv, values.csv. Returns
    the page. Raises `heddle.report.collect.NoStudy` for a folder that is not a study's."""
    from .write import write_report as write

    return write(folder)
