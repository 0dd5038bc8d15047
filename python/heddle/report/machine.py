"""The roof of a roofline: what the machine that writes the report can do."""

from __future__ import annotations

import json
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..study.records import read_json

WORDS = 1 << 22  # doubles per array and thread: 32 MiB, beyond caches
BLOCK = 1 << 14  # doubles that stay in a cache between the two operations of a triad
ORDER = 1200  # of the dense product


@dataclass
class Machine:
    """Measured once per study. `bandwidth`: bytes/s of a = b + s c with as many threads as CPUs,
    three words per entry. `peak`: flop/s of a dense product in double precision."""

    host: str
    cpu: str
    cpus: int
    bandwidth: float
    peak: float


def machine_of(store: Path) -> Machine:
    """The machine that `store` tells of, else this one, which is then stored."""
    kept = read_json(store)
    if isinstance(kept, dict):
        try:
            return Machine(**kept)
        except TypeError:
            pass
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = Machine(platform.node(), cpu_name(), cpus, triad(cpus), dense_product())
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found


def cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def triad(threads: int) -> float:
    """Bytes per second of a = b + s c, the best of four."""
    arrays = [tuple(np.full(WORDS, value) for value in (0.0, 1.0, 2.0)) for _ in range(threads)]

    def pass_over(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        for start in range(0, WORDS, BLOCK):
            part = slice(start, start + BLOCK)
            np.multiply(c[part], 3.0, out=a[part])
            np.add(a[part], b[part], out=a[part])

    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(4):
            begin = time.perf_counter()
            list(pool.map(lambda abc: pass_over(*abc), arrays))
            best = min(best, time.perf_counter() - begin)
    return 3 * 8 * WORDS * threads / best


def dense_product() -> float:
    """Flops per second of a dense product, the best of three."""
    a = np.random.default_rng(1).standard_normal((ORDER, ORDER))
    b, best = a.T.copy(), float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - begin)
    return 2.0 * ORDER**3 / best
