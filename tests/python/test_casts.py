"""Integers, booleans, lists, tables and sparse formats, in every public function."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import heddle

KINDS = {
    f"{format}_{kind}": getattr(sp, f"{format}_{kind}")
    for format in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
    for kind in ("array", "matrix")
}
KINDS |= {"list": np.ndarray.tolist, "array": np.asarray, "fortran": np.asfortranarray}
SCALARS = ["int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]
LARGE = 2**53 + 1  # the first integer that float64 does not hold


def signed():
    """A positive definite matrix of integers."""
    A = 3 * np.eye(12) + np.diag(np.arange(12))
    return (A - np.eye(12, k=1) - np.eye(12, k=-1)).astype(int)


def adjacency():
    """A connected graph: a ring with chords."""
    A = np.zeros((12, 12), dtype=int)
    for i in range(12):
        for j in (i + 1, i + 3):
            A[i, j % 12] = A[j % 12, i] = 1
    return A


def mass():
    return np.diag(np.arange(1, 13))


def rectangle():
    return np.arange(96).reshape(12, 8) % 7 - 2 * np.eye(12, 8, dtype=int)


B = np.arange(12) - 4
START = np.eye(12, 2, dtype=int) + np.ones((12, 2), dtype=int)

# Each function with its matrices in the form that `form` gives them, as an array of numbers.
CALLS = {
    "eigsh": lambda form: heddle.eigsh(form(signed()), 3, return_eigenvectors=False),
    "eigsh M": lambda form: heddle.eigsh(
        form(signed()), 3, M=form(mass()), which="SA", return_eigenvectors=False
    ),
    "eigsh sigma": lambda form: heddle.eigsh(
        form(signed()), 3, sigma=5, return_eigenvectors=False
    ),
    "eigsh_interval": lambda form: heddle.eigsh_interval(
        form(signed()), (0, 6), return_eigenvectors=False
    ),
    "lobpcg": lambda form: heddle.lobpcg(
        form(signed()), START, B=form(mass()), M=form(np.eye(12, dtype=int)), largest=False, tol=1e-9
    )[0],
    "lobpcg history": lambda form: heddle.lobpcg(
        form(signed()), START, largest=False, tol=1e-9, retResidualNormsHistory=True
    )[2][0],
    "svds": lambda form: heddle.svds(form(rectangle()), 3, return_singular_vectors=False),
    "cg": lambda form: heddle.cg(form(signed()), B, rtol=1e-12, M=form(np.eye(12, dtype=int)))[0],
    "lstsq": lambda form: heddle.lstsq(form(rectangle()), B, rtol=1e-12)[0],
    "spectral_density": lambda form: heddle.spectral_density(form(signed())).count(0, 6)[0],
    "fiedler": lambda form: heddle.fiedler(form(adjacency()), 3)[0],
    "spectral_embedding": lambda form: heddle.spectral_embedding(form(adjacency()), 1)[:, 0] ** 2,
    "solve": lambda form: heddle.solve(heddle.Problem(form(signed()), B=form(mass())), nev=2).values,
    "plan": lambda form: heddle.plan(form(signed()), nev=2).host_bytes,
}


def values(result):
    return np.asarray(result, dtype=float)


@pytest.fixture(scope="module")
def truths():
    return {name: values(call(lambda A: sp.csr_array(A.astype(float)))) for name, call in CALLS.items()}


def test_truths_are_those_of_dense_solves(truths):
    A, M, R = signed().astype(float), mass().astype(float), rectangle().astype(float)
    w = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(truths["eigsh"], w[-3:], rtol=1e-9)
    np.testing.assert_allclose(truths["eigsh_interval"], w[w <= 6], rtol=1e-9)
    np.testing.assert_allclose(truths["cg"], np.linalg.solve(A, B), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(truths["svds"], np.linalg.svd(R)[1][2::-1], rtol=1e-9)
    scaled = A / np.sqrt(np.outer(M.diagonal(), M.diagonal()))
    np.testing.assert_allclose(truths["eigsh M"], np.linalg.eigvalsh(scaled)[:3], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_formats(name, kind, truths):
    found = CALLS[name](lambda A: KINDS[kind](A.astype(float)))
    np.testing.assert_allclose(values(found), truths[name], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["csr_array", "dok_matrix", "list", "array"])
@pytest.mark.parametrize("name", CALLS)
def test_integers(name, kind, truths):
    found = CALLS[name](KINDS[kind])
    np.testing.assert_allclose(values(found), truths[name], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["A", "M", "b", "x0", "X", "Y", "v0"])
@pytest.mark.parametrize("dtype", SCALARS)
def test_types_of_numbers(name, dtype):
    """Matrices and blocks of each type of numbers, where the numbers are the same in all of them."""
    A, M = np.diag(np.arange(1, 13)).astype(float), np.eye(12)
    b, start = np.arange(12.0), np.eye(12, 2)
    cast = {name: np.dtype(dtype)}

    def part(values, own):
        return values.astype(cast.get(own, float))

    tolerance = 1e-5 if dtype == "float32" else 1e-10
    if name in ("b", "x0"):
        x, info = heddle.cg(A, part(b, "b"), part(np.ones(12), "x0"), rtol=1e-10)
        assert info == 0 and x.dtype == np.float64
        np.testing.assert_allclose(x, b / A.diagonal(), rtol=tolerance, atol=tolerance)
    elif name in ("X", "Y"):
        w, _ = heddle.lobpcg(A, part(start, "X"), Y=part(np.eye(12, 1), "Y"), largest=False)
        np.testing.assert_allclose(w, [2, 3], rtol=1e-6)
    else:
        w = heddle.eigsh(
            part(A, "A"), 2, part(M, "M"), which="SA", v0=part(b + 1, "v0"), return_eigenvectors=False
        )
        np.testing.assert_allclose(w, [1, 2], rtol=tolerance)


def test_booleans():
    graph = adjacency().astype(bool)
    for form in (np.asarray, sp.csr_array, sp.lil_matrix):
        truth = np.linalg.eigvalsh(adjacency())[-2:]
        found = heddle.eigsh(form(graph), 2, which="LA", return_eigenvectors=False)
        np.testing.assert_allclose(found, truth, rtol=1e-9)
        np.testing.assert_allclose(heddle.fiedler(form(graph))[0], heddle.fiedler(adjacency())[0])
    x, _ = heddle.cg(signed(), np.arange(12) % 2 == 0, rtol=1e-12)
    np.testing.assert_allclose(signed() @ x, np.arange(12) % 2 == 0, atol=1e-9)


def test_integers_of_operators():
    operator = sla.aslinearoperator(sp.csr_array(signed()))
    assert operator.dtype == int
    truth = np.linalg.eigvalsh(signed())
    found = heddle.eigsh(operator, 2, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(found, truth[-2:], rtol=1e-9)
    A = heddle._inputs.function(lambda X: signed() @ X.astype(int), (12, 12), int, "A")
    X = np.arange(24.0).reshape(12, 2)
    assert A.dtype == A.product(X).dtype == np.float64
    np.testing.assert_array_equal(A.product(X), signed() @ X)
    A = heddle._inputs.function(lambda X: X.astype(int) + LARGE, (12, 12), int, "A")
    with pytest.raises(ValueError, match=rf"^the result of A\[0, 0\] is {LARGE}: "):
        A.product(X * 0)


def test_duplicates_of_small_integers_are_summed_as_doubles():
    i = np.arange(12)
    rows = np.concatenate([i, i, i])
    A = sp.coo_array((np.full(36, 100, dtype=np.int8), (rows, rows)), shape=(12, 12))
    found = heddle.eigsh(A, 2, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(found, [300, 300], rtol=1e-12)
    assert A.dtype == np.int8 and A.nnz == 36


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix, sp.lil_array, sp.csc_array])
@pytest.mark.parametrize("value", [LARGE, -LARGE])
def test_large_integers_of_matrices_are_refused_by_place(form, value):
    A = signed()
    A[3, 7] = A[7, 3] = value
    with pytest.raises(ValueError, match=rf"^A\[(3, 7|7, 3)\] is {value}: .*2\^53.*A.astype\(float\)"):
        heddle.eigsh(form(A), 2, which="SA")
    with pytest.raises(ValueError, match=r"^M\[(3, 7|7, 3)\] is "):
        heddle.eigsh(signed(), 2, M=form(A), which="SA")
    with pytest.raises(ValueError, match=r"^graph\[(3, 7|7, 3)\] is "):
        heddle.fiedler(form(A))
    A[3, 7] = A[7, 3] = np.sign(value) * 2**53
    found = heddle.svds(form(A), 1, return_singular_vectors=False)
    np.testing.assert_allclose(found, [2.0**53], rtol=1e-9)


def test_large_integers_of_blocks_are_refused_by_place():
    b = np.zeros((12, 2), dtype=np.int64)
    b[5, 1] = LARGE
    with pytest.raises(ValueError, match=rf"^b\[5, 1\] is {LARGE}: "):
        heddle.cg(signed(), b)
    with pytest.raises(ValueError, match=rf"^b\[5\] is {LARGE}: "):
        heddle.lstsq(rectangle(), b[:, 1])
    with pytest.raises(ValueError, match=rf"^b\[5\] is {2**64 - 1}: "):
        heddle.lstsq(rectangle(), np.where(np.arange(12) == 5, np.uint64(2**64 - 1), np.uint64(0)))
    with pytest.raises(ValueError, match=rf"^b\[5\] is {-(2**63)}: "):
        heddle.lstsq(rectangle(), np.where(np.arange(12) == 5, np.int64(-(2**63)), np.int64(0)))


def test_ragged_and_unfit_lists_are_refused_by_name():
    with pytest.raises(ValueError, match="^A: its rows are lists of different lengths"):
        heddle.eigsh([[1, 0], [0]], 1)
    with pytest.raises(ValueError, match="^b: its rows are lists of different lengths"):
        heddle.cg([[1, 0], [0, 1]], [[1, 2], [3]])
    with pytest.raises(TypeError, match="^A has the type <U1"):
        heddle.svds([["a", "b"]], 1)


class TestPandas:
    @pytest.fixture
    def pandas(self):
        return pytest.importorskip("pandas")

    @pytest.mark.parametrize("dtype", [int, float, "Int64", "Float64", "int8"])
    @pytest.mark.parametrize("name", CALLS)
    def test_tables(self, name, dtype, truths, pandas):
        found = CALLS[name](lambda A: pandas.DataFrame(A).astype(dtype))
        np.testing.assert_allclose(values(found), truths[name], rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize("name", ["eigsh", "svds", "lstsq", "fiedler"])
    def test_sparse_tables(self, name, truths, pandas):
        found = CALLS[name](lambda A: pandas.DataFrame.sparse.from_spmatrix(sp.csr_array(A)))
        np.testing.assert_allclose(values(found), truths[name], rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize("dtype", [int, float, "Int64", bool])
    def test_series(self, dtype, pandas):
        b = pandas.Series(np.arange(12) % 2, index=list("abcdefghijkl")).astype(dtype)
        x, info = heddle.cg(signed(), b, rtol=1e-12)
        assert info == 0 and isinstance(x, np.ndarray) and x.shape == (12,)
        np.testing.assert_allclose(signed() @ x, np.arange(12) % 2, atol=1e-9)
        X, info = heddle.cg(signed(), pandas.DataFrame({"a": b, "b": 2 * b.astype(int)}), rtol=1e-12)
        assert info == 0 and X.shape == (12, 2)
        np.testing.assert_allclose(X, np.outer(x, [1, 2]), rtol=1e-9, atol=1e-9)

    def test_what_is_refused(self, pandas):
        table = pandas.DataFrame({"a": [1.0, 0.0], "b": ["x", "y"]})
        with pytest.raises(TypeError, match="^the column 'b' of A has the type .*heddle takes numbers"):
            heddle.eigsh(table, 1)
        with pytest.raises(ValueError, match=rf"^A\[1, 0\] is {LARGE}"):
            heddle.svds(pandas.DataFrame({"a": [1, LARGE], "b": [0.5, 0]}), 1)
        with pytest.raises(ValueError, match="^b contains NaN"):
            heddle.cg(np.eye(2), pandas.Series([1, None], dtype="Int64"))
