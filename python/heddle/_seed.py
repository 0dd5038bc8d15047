"""Seeds from what SciPy takes as a source of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def seed_of(rng: Any, name: str = "seed") -> int:
    """An integer as it is; from a generator, its next integer. `name`: of the argument."""
    if isinstance(rng, (int, np.integer)):
        if not 0 <= rng < 2**64:
            raise ValueError(f"{name} is {rng}, not from 0 to 2^64 - 1")
        return int(rng)
    if isinstance(rng, str):
        raise ValueError(f"{name} is {rng!r}, not an integer and not a generator of NumPy")
    if isinstance(rng, np.random.RandomState):
        return int(rng.randint(0, 2**31 - 1))
    return int(np.random.default_rng(rng).integers(0, 2**63))
