#!/usr/bin/env python3
"""Weak and strong scaling of LOBPCG and block CG over processes, 7-point Laplacian, 16 columns.

Every run takes a fixed number of iterations, and the seconds of an iteration are compared, without the
first ones: they load the kernels, each process for itself. Weak: each process has SIZE^3 points. Strong:
STRONG^3 points altogether. The ratio is the time of the first number of processes over that of several. It
is the efficiency of weak and the speedup of strong scaling. Shown are also the milliseconds per iteration
with the first ones, the shares of the phases `halo` (packing, and what other work does not hide) and `sums`,
and on GPUs the time in which the halo travels. With --start threads, one process leads all GPUs.

usage: lab/scaling/run.py [--build build/dev] [--device cuda] [--ranks 1,2] [--size 200] [--strong 256]
                            [--solvers lobpcg,cg] [--kinds weak,strong] [--iterations 30] [--phases]
                            [--start mpi|threads]
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile


WARM = 5  # iterations that are not counted


def config(solver, size, device, iterations):
    # The criterion is out of reach, so that every run takes all iterations.
    matrix = f"{{generate: laplace3d, size: [{', '.join(map(str, size))}]}}"
    if solver == "lobpcg":
        problem = f"matrix: {matrix}"
        options = "nev: 12, block_size: 16, preconditioner: {type: chebyshev, degree: 8}"
    else:
        problem = f"matrix: {matrix}, rhs: {{random: 16}}"
        options = "preconditioner: {type: jacobi}"
    return (f"problem: {{{problem}}}\ndevice: {device}\n"
            f"solver: {{{options}, tolerance: 1e-15, max_iterations: {iterations}}}\n")


def run(arguments, solver, size, ranks):
    with tempfile.TemporaryDirectory() as folder:
        case = pathlib.Path(folder) / "case.yaml"
        case.write_text(config(solver, size, arguments.device, arguments.iterations))
        command = [f"{arguments.build}/apps/heddle-{solver}", str(case), "-q",
                   "--set", f"output.directory={folder}/results"]
        if ranks > 1 and arguments.start == "threads":
            command += ["--devices", str(ranks)]
        elif ranks > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                       "-n", str(ranks)] + command
        done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
        if done.returncode not in (0, 3, 4):
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        results = pathlib.Path(folder) / "results"
        result = json.loads((results / "result.json").read_text())
        with (results / "history.csv").open() as lines:
            seconds = [float(row["seconds"]) for row in csv.DictReader(lines)]
        return result, (seconds[-1] - seconds[WARM - 1]) / (len(seconds) - WARM)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--ranks", default="1,2", help="numbers of processes, the first is compared with")
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--strong", type=int, default=256)
    parser.add_argument("--solvers", default="lobpcg,cg")
    parser.add_argument("--kinds", default="weak,strong")
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--start", choices=["mpi", "threads"], default="mpi")
    parser.add_argument("--phases", action="store_true", help="milliseconds per iteration of each phase")
    parser.add_argument("--timeout", type=int, default=300, help="seconds of one run")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.ranks.split(",")]
    print(f"{'solver':<8}{'kind':<8}{'ranks':>6}{'rows':>12}{'iterations':>11}{'ms/iteration':>14}"
          f"{'ratio':>8}{'with first':>11}{'halo':>8}{'sums':>8}{'travel':>8}{'setup s':>9}{'load s':>8}")
    for solver in arguments.solvers.split(","):
        for kind in arguments.kinds.split(","):
            first = None
            for ranks in counts:
                side = arguments.size if kind == "weak" else arguments.strong
                size = [side, side, side * ranks if kind == "weak" else side]
                result, step = run(arguments, solver, size, ranks)
                seconds = result["seconds"]
                first = first or step
                share = [result["phases"].get(phase, {}).get("seconds", 0) / seconds["solve"]
                         for phase in ("halo", "sums")]
                share.append(result["halo_travel"]["seconds"] / seconds["solve"])
                print(f"{solver:<8}{kind:<8}{ranks:>6}{result['n']:>12}{result['iterations']:>11}"
                      f"{1e3 * step:>14.3f}{first / step:>8.3f}"
                      f"{1e3 * seconds['solve'] / result['iterations']:>11.3f}{share[0]:>8.1%}{share[1]:>8.1%}{share[2]:>8.1%}"
                      f"{seconds['setup']:>9.2f}{seconds['load']:>8.2f}", flush=True)
                if arguments.phases:
                    per_step = {name: 1e3 * phase["seconds"] / result["iterations"]
                                for name, phase in result["phases"].items() if name != "setup"}
                    print("        " + ", ".join(f"{name} {value:.3f}" for name, value
                                                  in per_step.items() if value > 0.001), flush=True)


if __name__ == "__main__":
    main()
