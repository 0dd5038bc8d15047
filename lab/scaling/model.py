#!/usr/bin/env python3
"""A simulation of LOBPCG and block CG on many processes: 7-point Laplacian, 16 columns.

Each process has a clock. A product waits for the halo of the neighbours, which left when they began it, and
a sum waits for all processes. The work between them varies at random, so that processes wait for the
slowest. What a process does alone, and the numbers of products and sums and their bytes, were measured
(docs/methods/several-processes.md); what many do together is simulated, and nothing here was measured on more than two GPUs.

usage: lab/scaling/model.py [--iterations 20] [--jitter 0.01] [--seed 1]
"""

import argparse
import dataclasses
import itertools
import math
import random

COLUMNS = 16


@dataclasses.dataclass
class Solver:
    """An iteration of a solver, counted by the calls of MPI between iterations 10 and 20."""
    name: str
    halos: list         # bytes per value of the rows that travel, for each product
    sums: int           # gathers of all processes
    sum_bytes: int      # of a process, in all sums together
    bytes_per_row: int  # of memory traffic, from the time of one GPU
    product_share: float  # of the time: products, beside which rows travel


LOBPCG = Solver("lobpcg", [8] + 7 * [4], 6, 18700, 5700, 0.56)
CG = Solver("cg", [8], 8, 8460, 3000, 0.17)


@dataclasses.dataclass
class Machine:
    """A process and the links between processes, in seconds and bytes per second."""
    name: str
    memory: float    # bandwidth of a process
    fixed: float     # seconds of an iteration that do not depend on the rows
    link: float
    latency: float   # of a message
    gather: float    # of a sum, besides its bytes


GPUS = Machine("H200, NVLink", 3.5e12, 0.3e-3, 300e9, 10e-6, 15e-6)
NODES = Machine("nodes, 200 GB/s", 200e9, 0.1e-3, 12e9, 2e-6, 4e-6)


def grid_of(count, sides):
    """Parts per axis: slabs along the last one while their halo is small, else the least surface."""
    def halo(parts):
        local = [side / part for side, part in zip(sides, parts)]
        return sum(2 * math.prod(local) / size for size, part in zip(local, parts) if part > 1)
    slabs = (1, 1, count)
    rows = math.prod(sides) / count
    if halo(slabs) <= 0.1 * rows:
        return slabs
    cuts = [(i, j, count // i // j) for i in range(1, count + 1) if count % i == 0
            for j in range(1, count // i + 1) if (count // i) % j == 0]
    best = min(cuts, key=halo)
    return best if halo(best) <= 0.5 * halo(slabs) else slabs


def neighbours(parts):
    """For each process the pairs (other process, axis between them)."""
    place = {where: k for k, where in enumerate(itertools.product(*map(range, parts)))}
    found = []
    for where in place:
        pairs = []
        for axis, step in itertools.product(range(3), (-1, 1)):
            other = list(where)
            other[axis] += step
            if tuple(other) in place:
                pairs.append((place[tuple(other)], axis))
        found.append(pairs)
    return found


def iteration_seconds(solver, machine, count, sides, iterations, jitter, seed):
    noise = random.Random(seed)
    parts = grid_of(count, sides)
    local = [side / part for side, part in zip(sides, parts)]
    rows = math.prod(local)
    near = neighbours(parts)
    work = machine.fixed + rows * solver.bytes_per_row / machine.memory
    product = work * solver.product_share / len(solver.halos)
    between = work * (1 - solver.product_share) / (len(solver.halos) + solver.sums)
    gather = 0 if count == 1 else (
        machine.gather * math.log2(count) + solver.sum_bytes / solver.sums * count / machine.link)

    def vary(seconds):
        return seconds * max(0.5, noise.gauss(1, jitter))

    clock = [0.0] * count
    waited = {"halo": 0.0, "sums": 0.0}
    for _ in range(iterations):
        for value in solver.halos:
            clock = [time + vary(between) for time in clock]
            face = [rows / size * COLUMNS * value for size in local]
            pack = [2 * sum(face[axis] for _, axis in near[k]) / machine.memory for k in range(count)]
            sent = [time + more for time, more in zip(clock, pack)]
            after = []
            for k, time in enumerate(sent):
                arrived = max((sent[other] + machine.latency + face[axis] / machine.link
                               for other, axis in near[k]), default=time)
                done = time + vary(product)
                waited["halo"] += pack[k] + max(0.0, arrived - done)
                after.append(max(done, arrived) + 2 * pack[k])
            clock = after
        for _ in range(solver.sums):
            clock = [time + vary(between) for time in clock]
            last = max(clock) + gather
            waited["sums"] += last * count - sum(clock)
            clock = [last] * count
    per_iteration = max(clock) / iterations
    return per_iteration, {name: seconds / count / iterations / per_iteration
                           for name, seconds in waited.items()}, parts


def table(machine, kind, sides_of, counts, arguments):
    for solver in (LOBPCG, CG):
        first = None
        for count in counts:
            seconds, waited, parts = iteration_seconds(solver, machine, count, sides_of(count),
                                                       arguments.iterations, arguments.jitter,
                                                       arguments.seed)
            first = first or seconds
            good = first / seconds if kind == "weak" else first / seconds / count * counts[0]
            print(f"{machine.name:<16} {solver.name:<7} {kind:<7} {count:>5}  {'x'.join(map(str, parts)):<9}"
                  f"{1e3 * seconds:>9.3f} {good:>10.3f} {waited['halo']:>7.1%} {waited['sums']:>7.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--jitter", type=float, default=0.01, help="standard deviation of the work, relative")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("machine          solver  kind    count  parts    ms/iter. efficiency    halo    sums")
    table(GPUS, "weak", lambda count: (200, 200, 200 * count), (1, 2, 8), arguments)
    table(GPUS, "strong", lambda _: (256, 256, 256), (1, 2, 8), arguments)
    table(GPUS, "strong", lambda _: (512, 512, 512), (1, 2, 8), arguments)
    cube = {1: (200, 200, 200), 8: (400, 400, 400), 64: (800, 800, 800), 1000: (2000, 2000, 2000)}
    table(NODES, "weak", lambda count: cube[count], (1, 8, 64, 1000), arguments)
    table(NODES, "strong", lambda _: (800, 800, 800), (1, 8, 64, 1000), arguments)


if __name__ == "__main__":
    main()
