"""Arrays of a library that has a device of its own, on a machine without a GPU: NumPy's memory serves
as the device. All that heddle does with arrays on a GPU is done with these, except CUDA itself."""

from contextlib import nullcontext

import numpy as np
import scipy.sparse as sp

from heddle import _device_arrays
from heddle._device_arrays import Entries, _row_major


class Array(np.ndarray):
    """An array on the stand-in for a device."""

    def __array_finalize__(self, parent):
        self.gpu = getattr(parent, "gpu", 0)


class Sparse(sp.csr_array):
    """A sparse matrix on the stand-in for a device."""

    gpu = 0

    def __matmul__(self, X):
        return on_device(super().__matmul__(X), self.gpu)


class Operator:
    """A linear operator for blocks on the stand-in for a device."""

    gpu = 0

    def __init__(self, A):
        self.shape, self.dtype = A.shape, A.dtype
        self.matmat = lambda X: A @ X
        self.rmatmat = lambda X: A.T @ X


def on_device(x, gpu=0):
    if sp.issparse(x):
        moved = Sparse(x)
    else:
        moved = np.asarray(x).view(Array)
    moved.gpu = gpu
    return moved


class StandIn:
    name, device, way_to_host = "StandIn", "host", "x.get()"

    def __init__(self, gpu):
        self.gpu = gpu

    def __eq__(self, other):
        return isinstance(other, StandIn) and other.gpu == self.gpu

    def current(self):
        return nullcontext()

    def stream(self):
        return 0

    def scalar(self, X):
        return np.dtype(X.dtype)

    def entries(self, A, symmetric):
        A = A if sp.issparse(A) else Sparse(np.asarray(A))
        return Entries(self.cast(A.indptr, np.int64), self.cast(A.indices, np.int32), A.data, A)

    def cast(self, X, dtype):
        return X.astype(dtype, copy=False)

    def array(self, values):
        return on_device(values.copy(), self.gpu)

    def host(self, X):
        return np.array(X)

    def empty(self, rows, cols, dtype):
        return on_device(np.empty((rows, cols), dtype), self.gpu)

    def copy(self, X):
        return on_device(np.array(X, order="C"), self.gpu)

    def block(self, X):
        return _row_major(self.address(X), X.shape, X.strides, X.itemsize)

    def adjoint_product(self, A, X):
        return on_device(sp.csr_array(A).T @ np.asarray(X), self.gpu)

    def address(self, X):
        return X.__array_interface__["data"][0]

    def beside(self, X, Y):
        return on_device(np.concatenate([X, Y], axis=1), self.gpu)

    def view(self, interface):
        class Memory:
            __array_interface__ = {**interface.__cuda_array_interface__, "version": 3}

        return on_device(np.asarray(Memory()), self.gpu)

    def column_norms(self, X):
        return np.linalg.norm(np.asarray(X), axis=0)


def install(monkeypatch):
    """Makes heddle know the arrays above."""
    known = _device_arrays._library_of

    def library_of(x):
        return StandIn(x.gpu) if isinstance(x, (Array, Sparse, Operator)) else known(x)

    monkeypatch.setattr(_device_arrays, "_library_of", library_of)
