"""The command `heddle plot`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..study.records import INPUT, INTERRUPTED, USAGE
from ..plot.sources import PlotError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "heddle plot"
FORMATS = (".svg", ".png", ".pdf")
EXAMPLES = """examples:
  heddle plot results/K-lobpcg                         convergence, values, time by phase
  heddle plot results/K-lobpcg results/K-block_lanczos -o both.png
  heddle plot results/K-lobpcg --picture spy -o entries.svg
  heddle plot results/K-lobpcg --coordinates xyz.npy --mode 7 --mode 8 -o modes.svg
  heddle plot results/K-lobpcg --coordinates xyz.npy --kept rows.npy -o modes.svg
  heddle plot timing.json -o roofline.svg

A file of spmm_prediction or spmm_timing is drawn as a roofline for each of its matrices.

Modes need eigenvectors, which a solve writes with --eigenvectors npy. Rows of an eigenvector are
grouped by point: with 3 unknowns per point, rows 0 to 2 belong to the first one, and the points are
drawn where the mode moves them. Where rows of K and M were deleted, as those of supports, --kept
names the others: their numbers from 0, or true and false for each row.

exit codes: 0 done, 1 usage, 2 a file that cannot be read or written
"""


class Parser(argparse.ArgumentParser):
    """Ends with heddle's exit code for a wrong usage."""

    def error(self, message: str) -> NoReturn:
        raise PlotError(f"{message}; see {PROGRAM} --help", USAGE)


def parser() -> argparse.ArgumentParser:
    found = Parser(
        prog=PROGRAM,
        description="Draws the results of solves, and rooflines of products.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("results", nargs="+", metavar="RESULTS",
        help="folders with a result.json, or JSON files of spmm_prediction or spmm_timing")  # fmt: skip
    add("-o", "--output", default="plot.svg", metavar="FILE",
        help="picture: .svg, .png or .pdf (default: plot.svg)")  # fmt: skip
    add("-p", "--picture", action="append", default=[], metavar="NAME",
        choices=("convergence", "spectrum", "phases", "spy", "modes"),
        help="convergence, spectrum, phases, spy or modes; may be given again (default: the first "
        "three)")  # fmt: skip
    add("--coordinates", metavar="FILE",
        help="points x 1, 2 or 3 (.npy, .mtx, .csv, .txt): draws the modes on them")  # fmt: skip
    add("--kept", metavar="ROWS.npy",
        help="rows that K and M kept where others were deleted; modes are zero in these")  # fmt: skip
    add("--mode", action="append", type=int, default=[], metavar="N",
        help="number of a mode, from 1; may be given again (default: the first six)")  # fmt: skip
    add("--label", action="append", default=[], metavar="NAME",
        help="name of a result, in their order (default: the names of the folders)")  # fmt: skip
    add("--title", default="", help="above the picture")
    add("--dpi", type=int, default=150, help="of a .png (default: 150)")
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    return found


def run(arguments: list[str] | None) -> None:
    options = parser().parse_args(arguments)
    if not options.output.endswith(FORMATS):
        raise PlotError(
            f"-o {options.output}: the name of a picture ends in {', '.join(FORMATS)}", USAGE
        )
    if not 10 <= options.dpi <= 2000:
        raise PlotError(f"--dpi {options.dpi}: expected 10 to 2000", USAGE)
    # Only now, so that --help and wrong options need no matplotlib.
    from ..plot import figures
    from ..report import style

    with style.settings():
        figure, missing = make_figure(options)
        try:
            figures.save(figure, options.output, options.dpi)
        except OSError as error:
            raise PlotError(f"{options.output} cannot be written: {error.strerror}") from error
    if not options.quiet:
        for reason in missing:
            print(f"{PROGRAM}: {reason}", file=sys.stderr)
        print(options.output)


def make_figure(options: argparse.Namespace) -> tuple[Figure, list[str]]:
    """The figure, and what is missing in it."""
    from ..plot import figures, rooflines, sources

    files = [name for name in options.results if rooflines.is_file_of_rooflines(name)]
    if files:
        check_files_alone(options, files)
        found = [one for name in files for one in rooflines.read_rooflines(name)]
        return rooflines.draw(found, options.title), []
    if options.kept and not options.coordinates:
        raise PlotError("--kept is for modes on --coordinates", USAGE)
    results = sources.read_results(options.results, options.label)
    points = sources.read_coordinates(Path(options.coordinates)) if options.coordinates else None
    kept = Path(options.kept) if options.kept else None
    wish = figures.Wish(options.picture, points, options.mode, options.title, kept)
    return figures.draw(results, wish)


def check_files_alone(options: argparse.Namespace, files: list[str]) -> None:
    if len(files) < len(options.results):
        reason = f"{files[0]} is a roofline, which is drawn without results of solves"
        raise PlotError(reason, USAGE)
    for option in ("picture", "coordinates", "kept", "mode", "label"):
        if getattr(options, option):
            reason = f"--{option} is for results of solves, and {files[0]} is a roofline"
            raise PlotError(reason, USAGE)


def main(arguments: list[str] | None = None) -> int:
    """Exit codes are those of heddle's executables."""
    try:
        run(arguments)
    except PlotError as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
