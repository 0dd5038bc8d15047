"""Matrices from files and generated ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._scalars import INT32_MAX, whole_number


def _as_scipy(core: _core.Matrix | _core.ComplexMatrix) -> Any:
    offsets, columns, values = core.arrays()
    # SciPy gives offsets and columns one type. With that of the columns, which is the library's, a
    # solve takes them as they are.
    if len(values) <= INT32_MAX:
        offsets = offsets.astype(np.int32)
    return sp.csr_array((values, columns, offsets), shape=core.shape)


def generate(
    name: str, *size: int | Sequence[int], density: float = 0, seed: int = 42
) -> Any:
    """A generated matrix.

    Parameters
    ----------
    name : str
        Of the matrix, such as "laplace3d". `heddle info --list-generators` and docs/formats.md list them.
    *size : int
        Its sizes, as many as the name asks for, or one sequence of them.
    density : float
        Of the entries, for random matrices.
    seed : int
        For random matrices.

    Returns
    -------
    A : csr_array
        A sparse array of SciPy, of complex128 for the complex matrices that docs/formats.md names.

    Raises
    ------
    ValueError
        For an unknown name, with the most similar one, and for wrong sizes.

    Examples
    --------
    >>> import heddle
    >>> heddle.generate("laplace3d", 5, 6, 7).shape
    (210, 210)
    """
    if len(size) == 1 and isinstance(size[0], (Sequence, np.ndarray)):
        size = tuple(size[0])
    sizes = [whole_number(each, "size") for each in size]
    return _as_scipy(_core.generate(name, sizes, density, seed))


def read_matrix(path: str | os.PathLike[str]) -> Any:
    """The matrix in a file of any format that heddle reads: Matrix Market, .npz, .npy, edge lists, also
    gzipped.

    Parameters
    ----------
    path : str or path
        "SuiteSparse:HB/bcsstk17" is fetched from the SuiteSparse Matrix Collection if it is not in
        the cache.

    Returns
    -------
    A : csr_array
        A sparse array of SciPy, of complex128 where the file has complex numbers.

    Raises
    ------
    InputError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile, numpy as np, heddle
    >>> path = os.path.join(tempfile.mkdtemp(), "A.npy")
    >>> np.save(path, np.eye(3))
    >>> heddle.read_matrix(path).shape
    (3, 3)
    """
    from .data import is_prefixed, resolve

    name = os.fspath(path)
    return _as_scipy(_core.read_matrix(os.fspath(resolve(name)) if is_prefixed(name) else name))
