"""Arrays in the memory of a GPU: what heddle needs of the libraries that own them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import _core

Block = tuple[int, int, int, int]  # address, rows, columns, leading dimension


@dataclass(frozen=True)
class Entries:
    """Compressed sparse rows with offsets of 64 bits and columns of 32 bits. `source` is the
    library's own matrix of the same values."""

    offsets: Any
    columns: Any
    values: Any
    source: Any


class Library(Protocol):
    """A library of arrays, and the device on which the arrays of a call lie."""

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> str:
        """As `_core.Device` names it."""
        ...

    @property
    def gpu(self) -> int: ...

    @property
    def way_to_host(self) -> str:
        """How an array x is copied to the host."""
        ...

    def current(self) -> AbstractContextManager[Any]:
        """Makes the device the current one."""
        ...

    def stream(self) -> int:
        """The address of the stream on which the caller works now."""
        ...

    def scalar(self, X: Any) -> np.dtype | str:
        """The type of the numbers of X, or its name where NumPy does not know it."""
        ...

    def is_dense(self, X: Any) -> bool: ...

    def entries(self, A: Any, symmetric: bool) -> Entries:
        """A sparse or dense matrix in compressed sparse rows. Rows and columns of a real symmetric one
        may be exchanged."""
        ...

    def cast(self, X: Any, dtype: Any) -> Any:
        """An array or a sparse matrix with numbers of this type, an array that has them itself."""
        ...

    def array(self, values: np.ndarray) -> Any:
        """A copy of an array of NumPy."""
        ...

    def host(self, X: Any) -> np.ndarray: ...

    def empty(self, rows: int, cols: int, dtype: np.dtype) -> Any: ...

    def copy(self, X: Any) -> Any:
        """A copy with contiguous rows."""
        ...

    def block(self, X: Any) -> Block | None:
        """Where X lies. None if its rows are not contiguous."""
        ...

    def adjoint_product(self, A: Any, X: Any) -> Any:
        """The transpose of a sparse A times a block."""
        ...

    def address(self, X: Any) -> int: ...

    def beside(self, X: Any, Y: Any) -> Any:
        """The columns of X, then those of Y."""
        ...

    def view(self, interface: Any) -> Any:
        """An array on the memory that an object with `__cuda_array_interface__` describes."""
        ...

    def column_norms(self, X: Any) -> np.ndarray: ...


@dataclass(frozen=True)
class CuPy:
    gpu: int
    name = "CuPy"
    device = "cuda"
    way_to_host = "x.get()"

    @property
    def _cupy(self) -> Any:
        return sys.modules["cupy"]

    def current(self) -> AbstractContextManager[Any]:
        return self._cupy.cuda.Device(self.gpu)  # type: ignore[no-any-return]

    def stream(self) -> int:
        return int(self._cupy.cuda.get_current_stream().ptr)

    def scalar(self, X: Any) -> np.dtype | str:
        return np.dtype(X.dtype)

    def is_dense(self, X: Any) -> bool:
        return isinstance(X, self._cupy.ndarray)

    def entries(self, A: Any, symmetric: bool) -> Entries:
        from cupyx.scipy import sparse

        symmetric = symmetric and A.dtype.kind != "c"
        if not sparse.issparse(A):
            A = sparse.csr_matrix(A)
        elif A.format == "csc" and symmetric and A.shape[0] == A.shape[1]:
            A = A.T
        elif A.format != "csr":
            A = A.tocsr()
        if not A.has_canonical_format:
            A = A.copy()
            A.sum_duplicates()
        return Entries(self.cast(A.indptr, np.int64), self.cast(A.indices, np.int32), A.data, A)

    def cast(self, X: Any, dtype: Any) -> Any:
        return X.astype(dtype, copy=False) if self.is_dense(X) else X.astype(dtype)

    def array(self, values: np.ndarray) -> Any:
        return self._cupy.asarray(values)

    def host(self, X: Any) -> np.ndarray:
        return X.get()  # type: ignore[no-any-return]

    def empty(self, rows: int, cols: int, dtype: np.dtype) -> Any:
        return self._cupy.empty((rows, cols), dtype)

    def copy(self, X: Any) -> Any:
        return X.copy(order="C")

    def block(self, X: Any) -> Block | None:
        return _row_major(self.address(X), X.shape, X.strides, X.itemsize)

    def adjoint_product(self, A: Any, X: Any) -> Any:
        return A.T @ X

    def address(self, X: Any) -> int:
        return int(X.data.ptr)

    def beside(self, X: Any, Y: Any) -> Any:
        return self._cupy.concatenate([X, Y], axis=1)

    def view(self, interface: Any) -> Any:
        return self._cupy.asarray(interface)

    def column_norms(self, X: Any) -> np.ndarray:
        return self.host(self._cupy.linalg.norm(X, axis=0))


@dataclass(frozen=True)
class Torch:
    gpu: int
    name = "PyTorch"
    device = "cuda"
    way_to_host = "x.cpu()"

    @property
    def _place(self) -> str:
        return f"{self.device}:{self.gpu}"

    @property
    def _torch(self) -> Any:
        return sys.modules["torch"]

    def current(self) -> AbstractContextManager[Any]:
        return self._torch.cuda.device(self.gpu)  # type: ignore[no-any-return]

    def stream(self) -> int:
        return int(self._torch.cuda.current_stream(self.gpu).cuda_stream)

    def scalar(self, X: Any) -> np.dtype | str:
        name = str(X.dtype).removeprefix("torch.")
        try:
            return np.dtype(name)
        except TypeError:
            return name

    def is_dense(self, X: Any) -> bool:
        return bool(X.layout == self._torch.strided)

    def entries(self, A: Any, symmetric: bool) -> Entries:
        torch, A = self._torch, A.detach()
        symmetric = symmetric and not A.is_complex()
        if A.layout == torch.sparse_csc and symmetric and A.shape[0] == A.shape[1]:
            parts = (A.ccol_indices(), A.row_indices(), A.values())
            A = torch.sparse_csr_tensor(*parts, size=A.shape)
        elif A.layout != torch.sparse_csr:
            A = A.to_sparse_csr()
        offsets, columns = A.crow_indices(), A.col_indices()
        values = A.values().resolve_conj().resolve_neg()
        return Entries(self.cast(offsets, np.int64), self.cast(columns, np.int32), values, A)

    def _scalar_type(self, dtype: Any) -> Any:
        return getattr(self._torch, np.dtype(dtype).name)

    def cast(self, X: Any, dtype: Any) -> Any:
        X = X.detach()
        if X.layout == self._torch.strided:  # a conjugate may be a view of unchanged memory
            X = X.resolve_conj().resolve_neg()
        return X.to(self._scalar_type(dtype))

    def array(self, values: np.ndarray) -> Any:
        return self._torch.tensor(values, device=self._place)

    def host(self, X: Any) -> np.ndarray:
        return X.detach().cpu().numpy()  # type: ignore[no-any-return]

    def empty(self, rows: int, cols: int, dtype: np.dtype) -> Any:
        scalar = self._scalar_type(dtype)
        return self._torch.empty((rows, cols), dtype=scalar, device=self._place)

    def copy(self, X: Any) -> Any:
        return X.detach().clone(memory_format=self._torch.contiguous_format)

    def block(self, X: Any) -> Block | None:
        size = X.element_size()
        steps = [step * size for step in X.stride()]
        return _row_major(self.address(X), tuple(X.shape), steps, size)

    def adjoint_product(self, A: Any, X: Any) -> Any:
        return A.to_sparse_coo().t() @ X

    def address(self, X: Any) -> int:
        return int(X.data_ptr())

    def beside(self, X: Any, Y: Any) -> Any:
        return self._torch.cat([X, Y], dim=1)

    def view(self, interface: Any) -> Any:
        return self._torch.as_tensor(interface, device=self._place)

    def column_norms(self, X: Any) -> np.ndarray:
        return self.host(self._torch.linalg.norm(X, dim=0))


def _row_major(address: int, shape: Any, steps: Any, size: int) -> Block | None:
    rows, cols = shape
    row_step, column_step = steps
    if cols > 1 and column_step != size:
        return None
    if rows > 1 and (row_step % size != 0 or row_step < cols * size):
        return None
    return address, rows, cols, row_step // size if rows > 1 else max(cols, 1)


class _Memory:
    """A block of a solve, as libraries take it."""

    def __init__(self, block: Block, dtype: np.dtype):
        address, rows, cols, ld = block
        size = dtype.itemsize
        self.__cuda_array_interface__ = {
            "shape": (rows, cols),
            "typestr": dtype.str,
            "data": (address, False),
            "strides": (ld * size, size),
            "version": 2,
        }


def lent(library: Library, block: Block, dtype: np.dtype) -> Any:
    """An array of the library on the memory of a solve."""
    return library.view(_Memory(block, dtype))


def library_of(x: Any, name: str) -> Library | None:
    """The library of an array or a sparse matrix on a GPU, or of an operator for such arrays. None for
    what is not on a GPU. What no known library owns is refused, as is everything on a GPU if
    this build has no CUDA."""
    library = _library_of(x)
    owned = library is not None and library.device == "cuda"
    if library is not None and not owned:
        return library
    if not owned and (_is_tensor(x) or not hasattr(x, "__cuda_array_interface__")):
        return None
    if not _core.has_cuda:
        way = library.way_to_host if library else "a copy"
        raise TypeError(
            f"{name} lies in the memory of a GPU, and this build of heddle has no CUDA: pass {way}, in "
            "host memory, or build heddle with HEDDLE_CUDA=ON"
        )
    if not owned:
        raise TypeError(
            f"{name} is a {type(x).__module__}.{type(x).__name__} in the memory of a GPU; heddle takes "
            f"arrays of CuPy and PyTorch there: pass cupy.asarray({name})"
        )
    return library


def _is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _library_of(x: Any) -> Library | None:
    package = type(x).__module__.partition(".")[0]
    if package in ("cupy", "cupyx"):
        cupy = sys.modules["cupy"]
        values = x if isinstance(x, cupy.ndarray) else getattr(x, "data", None)
        if isinstance(values, cupy.ndarray):
            return CuPy(int(values.device.id))
        if hasattr(x, "matmat"):  # a linear operator, whose arrays lie on the current device
            return CuPy(int(cupy.cuda.Device().id))
        return None
    if _is_tensor(x):
        if x.device.type == "cuda":
            return Torch(int(x.device.index))
        if x.device.type != "cpu":
            raise TypeError(f"a tensor lies on {x.device}; heddle knows the host and CUDA")
    return None


Product = Callable[[Any], Any]


@dataclass(frozen=True)
class DeviceOperand:
    """A matrix in the memory of a device: its entries, or a function of blocks."""

    library: Library
    shape: tuple[int, int]
    dtype: np.dtype
    entries: Entries | None = None
    product: Product | None = None

    @property
    def is_stored(self) -> bool:
        return self.entries is not None

    def times(self, X: Any) -> Any:
        """The product with a block of the library."""
        if self.entries is not None:
            library, source = self.library, self.entries.source
            numbers = np.promote_types(self.dtype, library.scalar(X))
            if numbers != self.dtype:
                source = library.cast(source, numbers)
            return source @ library.cast(X, numbers)
        assert self.product is not None
        return self.product(X)

    def core(self, dtype: np.dtype, kept: list[Any]) -> _core.DeviceMatrix:
        """The matrix for a solve in this precision. What it refers to is added to `kept`. Values of
        the same precision are not copied."""
        library, (rows, cols) = self.library, self.shape
        if self.entries is None:
            return _core.DeviceMatrix.from_function(rows, cols, self._function(dtype))
        values = _aligned(library, library.cast(self.entries.values, dtype))
        offsets = _aligned(library, self.entries.offsets)
        columns = _aligned(library, self.entries.columns)
        kept += [offsets, columns, values]
        addresses = [library.address(part) for part in (offsets, columns, values)]
        return _core.DeviceMatrix.from_csr(rows, cols, len(values), *addresses)

    def _function(self, dtype: np.dtype) -> Callable[[Block, Block], None]:
        assert self.product is not None
        library, product = self.library, self.product

        def apply(X: Block, Y: Block) -> None:
            with library.current():
                lent(library, Y, dtype)[...] = product(library.copy(lent(library, X, dtype)))

        return apply


def _aligned(library: Library, X: Any) -> Any:
    """X itself if it begins at a multiple of 16 bytes, as kernels need it, else a copy."""
    return X if library.address(X) % 16 == 0 else library.copy(X)
