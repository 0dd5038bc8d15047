"""The command `heddle plot`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from ..study.records import INPUT, INTERRUPTED, USAGE
from ..plot.sources import PlotError

PROGRAM = "heddle plot"
FORMATS = (".svg", ".png", ".pdf")
EXAMPLES = """examples:
  heddle plot results/K-lobpcg                         convergence, values, time by phase
  heddle plot results/K-lobpcg results/K-block_lanczos -o both.png
  heddle plot results/K-lobpcg --picture spy -o entries.svg
  heddle plot results/K-lobpcg --coordinates xyz.npy --mode 7 --mode 8 -o modes.svg

Modes need eigenvectors, which a solve writes with --eigenvectors npy. Rows of an eigenvector are
grouped by point: with 3 unknowns per point, rows 0 to 2 belong to the first one, and the points are
drawn where the mode moves them.

exit codes: 0 done, 1 usage, 2 a file that cannot be read or written
"""


class Parser(argparse.ArgumentParser):
    """Ends with heddle's exit code for a wrong usage."""

    def error(self, message: str) -> NoReturn:
        raise PlotError(f"{message}; see {PROGRAM} --help", USAGE)


def parser() -> argparse.ArgumentParser:
    found = Parser(
        prog=PROGRAM,
        description="Draws the results of solves.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("results", nargs="+", metavar="RESULTS", help="folders with a result.json")
    add("-o", "--output", default="plot.svg", metavar="FILE",
        help="picture: .svg, .png or .pdf (default: plot.svg)")  # fmt: skip
    add("-p", "--picture", action="append", default=[], metavar="NAME",
        choices=("convergence", "spectrum", "phases", "spy", "modes"),
        help="convergence, spectrum, phases, spy or modes; may be given again (default: the first "
        "three)")  # fmt: skip
    add("--coordinates", metavar="FILE",
        help="points x 1, 2 or 3 (.npy, .mtx, .csv, .txt): draws the modes on them")  # fmt: skip
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
    from ..plot import figures, sources
    from ..report import style

    results = sources.read_results(options.results, options.label)
    points = sources.read_coordinates(Path(options.coordinates)) if options.coordinates else None
    wish = figures.Wish(options.picture, points, options.mode, options.title)
    with style.settings():
        figure, missing = figures.draw(results, wish)
        try:
            figures.save(figure, options.output, options.dpi)
        except OSError as error:
            raise PlotError(f"{options.output} cannot be written: {error.strerror}") from error
    if not options.quiet:
        for reason in missing:
            print(f"{PROGRAM}: {reason}", file=sys.stderr)
        print(options.output)


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
