"""What may be passed as a matrix or a block, and what is copied of it."""

import re
import resource
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_eigenvalues, path_laplacian

import heddle
from heddle import _inputs

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def address(array):
    return array.__array_interface__["data"][0]


def smallest(A, **arguments):
    return heddle.eigsh(A, 3, which="SA", return_eigenvectors=False, **arguments)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("format", FORMATS)
def test_formats(kind, format):
    A = kind(path_laplacian(60)).asformat(format)
    np.testing.assert_allclose(smallest(A), path_eigenvalues(60)[:3], rtol=1e-10)


def test_arrays_lists_graphs_and_operators():
    A, truth = path_laplacian(60), path_eigenvalues(60)[:3]
    dense = A.toarray()
    wide = np.zeros((120, 120))
    wide[::2, ::2] = dense
    kinds = [dense, np.asfortranarray(dense), wide[::2, ::2], dense.tolist()]
    for other in [*kinds, sla.aslinearoperator(A)]:
        np.testing.assert_allclose(smallest(other), truth, rtol=1e-9)
    networkx = pytest.importorskip("networkx")
    G = networkx.path_graph(50)
    w = heddle.eigsh(G, 2, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, 2 * np.cos(np.pi * np.array([2, 1]) / 51), rtol=1e-10)


@pytest.mark.parametrize("name", ["A", "M", "b"])
@pytest.mark.parametrize("dtype", ["clongdouble", "f2", "longdouble", "O"])
def test_other_scalars_are_refused_by_name(name, dtype):
    good, bad = path_laplacian(20), np.eye(20).astype(dtype)
    with pytest.raises(TypeError, match=f"{name} has the type {bad.dtype}; .*float32 and float64"):
        if name == "b":
            heddle.cg(good, bad[0])
        else:
            heddle.eigsh(bad if name == "A" else good, 2, M=bad if name == "M" else None)


@pytest.mark.parametrize("dtype", [np.complex64, complex])
def test_sparse_matrices_of_other_scalars_are_refused(dtype):
    with pytest.raises(TypeError, match=f"graph has the type {np.dtype(dtype)}"):
        heddle.fiedler(path_laplacian(20).astype(dtype))


@pytest.mark.parametrize("bad", [None, 3, "K.mtx", object()])
def test_other_types_are_refused_by_name(bad):
    with pytest.raises(TypeError, match="A is a|A has the type"):
        heddle.solve(bad) if bad != 3 else heddle.solve({})


@pytest.mark.parametrize(
    "A", [np.zeros((0, 0)), sp.csr_array((0, 0)), np.ones(5), np.ones((3, 4)), np.ones((2, 2, 2))]
)
def test_empty_and_misshapen_matrices(A):
    with pytest.raises(ValueError, match="A"):
        heddle.eigsh(A, 1, which="SA")


def test_csr_is_taken_without_a_copy():
    A = path_laplacian(1000)
    offsets, columns, values = _inputs.matrix(A, "A").core.arrays()
    assert address(values) == address(A.data)
    assert address(columns) == address(A.indices)
    assert offsets.dtype == np.int64  # offsets of 32 bits are converted
    wide = sp.csr_array(A)
    wide.indptr, wide.indices = A.indptr.astype(np.int64), A.indices.astype(np.int32)
    offsets, columns, values = _inputs.matrix(wide, "A").core.arrays()
    assert address(values) == address(wide.data) and address(offsets) == address(wide.indptr)


def test_matrices_of_the_package_are_taken_without_a_copy():
    A = heddle.generate("laplace2d", 20, 20)
    _, columns, values = _inputs.matrix(A, "A").core.arrays()
    assert address(values) == address(A.data) and address(columns) == address(A.indices)
    assert A.indices.dtype == np.int32


def test_symmetric_csc_is_taken_without_a_copy():
    A = path_laplacian(1000).tocsc()
    _, columns, values = _inputs.matrix(A, "A").core.arrays()
    assert address(values) == address(A.data) and address(columns) == address(A.indices)


def test_wide_indices_are_converted():
    A = path_laplacian(100)
    A.indptr, A.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    np.testing.assert_allclose(smallest(A), path_eigenvalues(100)[:3], rtol=1e-10)


@pytest.mark.parametrize(
    ("part", "place", "number", "message"),
    [
        ("indptr", 0, 1, "{} offsets begin with 1, not 0"),
        ("indptr", 3, 1, "{} 2 ends at offset 1, but begins at 5"),
        ("indptr", 2, -5, "{} 1 ends at offset -5, but begins at 2"),
        ("indptr", -1, 40, "{} offsets end with 40, there are 16 entries"),
        ("indptr", slice(2), [], "indptr has 5 numbers, 6 {}s take 7"),
        ("indices", 4, 17, "{} 1 has {other} 17 where"),
        ("indices", 4, -1, "{} 1 has {other} -1 where"),
    ],
)
@pytest.mark.parametrize("scalar", [float, int])
def test_broken_compressed_matrices_are_refused(part, place, number, message, scalar):
    def broken(kind):
        A = path_laplacian(6).astype(scalar).asformat(kind)
        numbers = np.array(getattr(A, part))
        if isinstance(place, slice):
            numbers = numbers[2:]
        else:
            numbers[place] = number
        setattr(A, part, numbers)
        return A

    for kind, line in [("csr", "row"), ("csc", "column")]:
        other = "column" if line == "row" else "row"
        text = re.escape(message.format(line, other=other))
        for solve in (
            heddle.factorized,
            lambda A: heddle.eigsh(A, 2),
            lambda A: heddle.svds(A, 2),
            lambda A: heddle.cg(A, np.ones(6)),
        ):
            with pytest.raises(ValueError, match=f"A: {text}"):
                solve(broken(kind))
        with pytest.raises(ValueError, match=f"M: {text}"):
            heddle.factorized(path_laplacian(6), M=broken(kind))


def test_peak_memory_of_a_large_matrix():
    """A matrix of 10^7 entries enters with less memory than a copy of its values would take."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    n = 2_000_000
    A = sp.diags_array([1.0, -2, 4, -2, 1], offsets=[-2, -1, 0, 1, 2], shape=(n, n), format="csr")
    assert A.nnz > 9_999_000 and A.has_canonical_format
    before = resident()
    core = _inputs.matrix(A, "A").core
    added = resident() - before
    assert address(core.arrays()[2]) == address(A.data)
    assert address(core.arrays()[1]) == address(A.indices)
    assert added < 8 * (n + 1) + 4e6  # the row offsets in 64 bits


def test_blocks_are_taken_without_a_copy():
    X = np.ones((50, 4))
    for same in (X, X[:, :3], X[:, 1:2], X[::2], np.ones(50), X[:0], np.asfortranarray(X[:, :1])):
        taken, _ = _inputs.block(same, "X")
        assert np.shares_memory(taken, same) or same.size == 0
    for other in (np.asfortranarray(X), X[:, ::2], X[::-1], X[:, ::-1], X.astype(">f8"), X[:1].T):
        taken, _ = _inputs.block(other, "X")
        assert taken.flags.c_contiguous or taken.shape[1] == 1
        np.testing.assert_array_equal(taken, other)


def test_blocks_of_any_layout_give_equal_bits():
    A = path_laplacian(64)
    B = np.random.default_rng(0).standard_normal((64, 6))[:, ::2]
    unaligned = np.frombuffer(b"x" + B.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(64, 3)
    frozen = B.copy()
    frozen.flags.writeable = False
    first, _ = heddle.cg(A, B.copy())
    for other in (B, np.asfortranarray(B), B[::-1][::-1], B.astype(">f8"), frozen, unaligned):
        np.testing.assert_array_equal(heddle.cg(A, other)[0], first)


def test_read_only_matrices_and_unchanged_arguments():
    A = path_laplacian(80)
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    before = A.copy()
    w, v = heddle.eigsh(A, 2, which="SA")
    np.testing.assert_allclose(w, path_eigenvalues(80)[:2], rtol=1e-10)
    v[:] = 0  # results belong to the caller
    assert (A != before).nnz == 0


def test_duplicates_and_unsorted_rows_are_summed_in_a_copy():
    A = sp.csr_array(
        (np.array([1.0, 1, 3, 2]), np.array([1, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    A.data[0] = 0.5
    A = sp.csr_array(
        (np.array([0.5, 1.0, 0.5, 2, 0.5]), np.array([1, 0, 1, 1, 0]), np.array([0, 3, 5]))
    )
    A.data[4] = 1.0
    w = heddle.eigsh(A, 1, which="SA", return_eigenvectors=False)
    np.testing.assert_allclose(w, [(3 - 5**0.5) / 2])
    assert A.nnz == 5 and A.indices.tolist() == [1, 0, 1, 1, 0]


def test_damaged_matrices_are_refused():
    A = path_laplacian(20)
    assert A.has_canonical_format
    A.indices[5] = 77
    with pytest.raises(ValueError, match="column 77"):
        heddle.solve(A, nev=2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_parts_that_are_not_finite_are_refused(value):
    A, X = path_laplacian(20), np.ones((20, 2))
    bad, wrong = A.copy(), X.copy()
    bad.data[4] = wrong[3, 1] = value
    for call, name in (
        (lambda: heddle.solve(bad, nev=2), "A"),
        (lambda: heddle.eigsh(bad.toarray(), 2), "A"),
        (lambda: heddle.eigsh(A, 2, M=bad), "M"),
        (lambda: heddle.lobpcg(A, wrong), "X"),
        (lambda: heddle.lobpcg(A, X, Y=wrong), "Y"),
        (lambda: heddle.cg(A, wrong), "b"),
        (lambda: heddle.cg(A, X, x0=-wrong), "x0"),
    ):
        with pytest.raises(ValueError, match=f"^{name} contains NaN or infinity$"):
            call()
    X[:] = 1e308  # whose sum overflows
    heddle._scalars.check_finite(X, "X")


def test_other_byte_orders_are_converted():
    A = path_laplacian(50)
    w = heddle.eigsh(A.toarray().astype(">f8"), 2, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, path_eigenvalues(50)[-2:], rtol=1e-10)


def test_functions_get_arrays_that_they_may_keep():
    A = path_laplacian(100)
    kept = []

    def product(X):
        kept.append(X)
        return A @ X

    operator = sla.LinearOperator(A.shape, matvec=product, matmat=product, dtype=float)
    w, v = heddle.eigsh(operator, 2, which="LA")
    np.testing.assert_allclose(w, path_eigenvalues(100)[-2:], rtol=1e-10)
    assert len({address(X) for X in kept}) == len(kept) > 1
    assert all(np.isfinite(X).all() and X.shape[0] == 100 and X.ndim == 2 for X in kept)


@pytest.mark.parametrize(
    ("product", "error"),
    [
        (lambda X: X[:5], ValueError),
        (lambda X: X.astype(complex), TypeError),
        (lambda X: None, ValueError),
        (lambda X: 1 / 0, ZeroDivisionError),
    ],
)
def test_errors_of_functions_reach_the_caller(product, error):
    operator = sla.LinearOperator((50, 50), matvec=product, matmat=product, dtype=float)
    with pytest.raises(error):
        heddle.solve(operator, nev=2)


def test_functions_without_an_order_and_on_a_gpu():
    with pytest.raises(TypeError, match="the order of the function A is not known"):
        heddle.eigsh(lambda X: X, 2)
    operator = sla.aslinearoperator(path_laplacian(50))
    with pytest.raises((ValueError, heddle.DeviceError), match="callable|CUDA|cuda"):
        heddle.eigsh(operator, 2, which="SA", device="cuda")


@pytest.mark.parametrize("has_cuda", [False, True])
def test_arrays_of_an_unknown_library_on_a_gpu_are_refused_by_name(monkeypatch, has_cuda):
    class OnDevice:
        __cuda_array_interface__ = {"shape": (3, 3)}
        shape = (3, 3)

    monkeypatch.setattr(heddle._core, "has_cuda", has_cuda)
    reason = "of CuPy and PyTorch there: pass cupy.asarray" if has_cuda else "build of heddle has no CUDA"
    with pytest.raises(TypeError, match=f"A .* in the memory of a GPU.*{reason}"):
        heddle.eigsh(OnDevice(), 1)
    with pytest.raises(TypeError, match=f"b .* in the memory of a GPU.*{reason}"):
        heddle.cg(path_laplacian(3), OnDevice())


def test_arrays_of_cupy_without_cuda_name_the_way_out(monkeypatch):
    """The class stands for `cupy.ndarray`: heddle knows it by the package that it comes from."""

    class ndarray:  # noqa: N801
        __cuda_array_interface__ = {"shape": (3,)}
        shape, dtype = (3,), np.dtype(float)
        device = type("Device", (), {"id": 0})()

    ndarray.__module__ = "cupy"
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=ndarray))
    monkeypatch.setattr(heddle._core, "has_cuda", False)
    with pytest.raises(TypeError, match=r"b lies in the memory of a GPU.* pass x.get\(\), in host memory"):
        heddle.cg(path_laplacian(3), ndarray())


def test_files_and_generated_matrices(tmp_path):
    A = heddle.generate("laplace2d", 7, 5)
    assert A.shape == (35, 35) and A.sum() == 2 * (7 + 5)
    for size in ((7, 5), [7, 5], np.array([7, 5])):
        assert abs(heddle.generate("laplace2d", size) - A).max() == 0
    with pytest.raises(TypeError, match="^size is 7.5, not an integer$"):
        heddle.generate("laplace2d", 7.5, 5)
    import scipy.io

    scipy.io.mmwrite(tmp_path / "A.mtx", A.tocoo())
    assert abs(heddle.read_matrix(tmp_path / "A.mtx") - A).max() == 0
    with pytest.raises(heddle.InputError, match="no.mtx"):
        heddle.read_matrix(tmp_path / "no.mtx")
    with pytest.raises(ValueError, match="laplace2d"):
        heddle.generate("laplace2", 7, 5)
