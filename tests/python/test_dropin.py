"""Calls as users of SciPy, scikit-learn and networkx write them, with these libraries and with heddle: the
same values, shapes, types, order and kinds of exceptions. docs/python.md names what differs."""

import types
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import heddle

networkx = pytest.importorskip("networkx")
manifold = pytest.importorskip("sklearn.manifold")
pandas = pytest.importorskip("pandas")


def _fiedler_of_networkx(graph):
    return (
        np.array([networkx.algebraic_connectivity(graph, tol=1e-12)]),
        networkx.fiedler_vector(graph, tol=1e-12)[:, None],
    )


NAMES = ("eigsh", "svds", "lobpcg", "cg", "lsqr", "lsmr")
THEIRS = types.SimpleNamespace(
    **{name: getattr(sla, name) for name in NAMES},
    spectral_embedding=manifold.spectral_embedding,
    fiedler=_fiedler_of_networkx,
)

n = 60
A = sp.csr_array(
    sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    + sp.diags_array(0.05 * np.arange(n))
)
M = sp.diags_array([0.3, 2.0, 0.3], offsets=[-1, 0, 1], shape=(n, n), format="csc")
INTEGERS = sp.csr_array(np.diag(np.arange(4, n + 4)) - np.eye(n, k=1, dtype=int) - np.eye(n, k=-1, dtype=int))
FLAGS = sp.csr_array(np.eye(n, k=1, dtype=bool) | np.eye(n, k=-1, dtype=bool))
SINGLE = A.astype(np.float32)
DIAGONAL = sp.diags_array(np.linspace(1, 2, n))
rng = np.random.default_rng(4)
TALL = sp.random_array((70, 40), density=0.3, rng=rng, format="csr")
WIDE = sp.csr_array(TALL.T)
b = rng.standard_normal(n)
c = rng.standard_normal(70)
X = rng.standard_normal((n, 3))
LOWEST = np.linalg.eigh(A.toarray())[1][:, :2]
GRAPH = networkx.connected_watts_strogatz_graph(40, 4, 0.3, seed=2)
ADJACENCY = sp.csr_matrix(networkx.to_numpy_array(GRAPH))
jacobi = sla.LinearOperator((n, n), matvec=lambda x: x.ravel() / A.diagonal(), dtype=float)
inverse = sp.diags_array(1 / A.diagonal())
product = sla.LinearOperator((n, n), matvec=lambda x: A @ x, dtype=float)
product_of_tall = sla.LinearOperator(
    TALL.shape, matvec=lambda x: TALL @ x, rmatvec=lambda x: TALL.T @ x, dtype=float
)

EIGSH = {
    "defaults": lambda f: f(A),
    "k": lambda f: f(A, 3),
    "keyword k": lambda f: f(A, k=np.int64(4)),
    "SA": lambda f: f(A, k=3, which="SA"),
    "LA": lambda f: f(A, k=3, which="LA"),
    "SM": lambda f: f(A, k=3, which="SM"),
    "LM of both signs": lambda f: f(A - 3 * sp.eye_array(n), k=4, which="LM"),
    "SM of both signs": lambda f: f(A - 3 * sp.eye_array(n), k=4, which="SM", ncv=n, v0=np.cos(np.arange(n))),
    "BE": lambda f: f(A, k=4, which="BE"),
    "BE, odd": lambda f: f(A, k=5, which="BE"),
    "dense": lambda f: f(A.toarray(), 3),
    "Fortran order": lambda f: f(np.asfortranarray(A.toarray()), 3, which="SA"),
    "csc": lambda f: f(A.tocsc(), 3),
    "coo": lambda f: f(A.tocoo(), 3),
    "dia": lambda f: f(A.todia(), 3),
    "lil": lambda f: f(A.tolil(), 3),
    "bsr": lambda f: f(A.tobsr((2, 2)), 3),
    "csr_matrix": lambda f: f(sp.csr_matrix(A), 3, which="SA"),
    "integers": lambda f: f(INTEGERS, 3),
    "integers, dense": lambda f: f(INTEGERS.toarray(), k=2, which="SA"),
    "booleans": lambda f: f(FLAGS, 3, which="LA"),
    "dok": lambda f: f(A.todok(), 3),
    "single precision": lambda f: f(SINGLE, 3),
    "single precision, dense": lambda f: f(SINGLE.toarray(), 2, which="LA"),
    "operator": lambda f: f(sla.aslinearoperator(A), 3),
    "operator of vectors": lambda f: f(product, k=3, which="SA"),
    "M": lambda f: f(A, 3, M, which="SA"),
    "dense M": lambda f: f(A.toarray(), 3, M=M.toarray(), which="LA"),
    "diagonal M": lambda f: f(A, k=3, M=DIAGONAL),
    "sigma 0": lambda f: f(A, k=4, sigma=0),
    "sigma": lambda f: f(A, k=4, sigma=2.51),
    "sigma, above": lambda f: f(A, k=4, sigma=2.51, which="LA"),
    "sigma, below": lambda f: f(A, k=4, sigma=2.51, which="SA"),
    "sigma and M": lambda f: f(A, k=3, M=M, sigma=1.03, which="LM"),
    "sigma, dense": lambda f: f(A.toarray(), 3, sigma=2.51),
    "v0": lambda f: f(A, 3, v0=np.ones(n)),
    "ncv": lambda f: f(A, 3, ncv=20, maxiter=2000, tol=1e-12),
    "no vectors": lambda f: f(A, 3, return_eigenvectors=False),
    "no vectors, sigma": lambda f: f(A, 3, sigma=2.51, return_eigenvectors=False),
    "positional": lambda f: f(A, 4, None, None, "SA", None, 30, 500, 1e-10, True),
    "rng": lambda f: f(A, 3, rng=np.random.default_rng(3)),
    "all but one": lambda f: f(A, k=n - 1),
    "all, dense": lambda f: f(A.toarray(), k=n),
    "k is 0": lambda f: f(A, k=0),
    "not square": lambda f: f(TALL, 3),
    "unknown which": lambda f: f(A, 3, which="XX"),
    "M of another order": lambda f: f(A, 3, M=np.eye(n + 1)),
    "ncv too small": lambda f: f(A, 3, ncv=3),
    "one iteration": lambda f: f(sp.diags_array(np.arange(1.0, 4001)), 9, which="SA", maxiter=1),
    "maxiter is 0": lambda f: f(A, 3, maxiter=0),
    "maxiter is negative": lambda f: f(A, 3, maxiter=-1),
}
SVDS = {
    "defaults": lambda f: f(TALL),
    "wide": lambda f: f(WIDE, 4),
    "SM": lambda f: f(TALL, k=3, which="SM"),
    "dense": lambda f: f(TALL.toarray(), k=3),
    "csc": lambda f: f(TALL.tocsc(), k=3),
    "coo": lambda f: f(TALL.tocoo(), k=3),
    "single precision": lambda f: f(TALL.astype(np.float32), k=3),
    "integers": lambda f: f(np.arange(35).reshape(7, 5) % 4, k=2),
    "operator": lambda f: f(sla.aslinearoperator(TALL), k=3),
    "operator of vectors": lambda f: f(product_of_tall, k=3),
    "no vectors": lambda f: f(TALL, k=3, return_singular_vectors=False),
    "left vectors": lambda f: f(WIDE, k=3, return_singular_vectors="u"),
    "right vectors": lambda f: f(TALL, k=3, return_singular_vectors="vh"),
    "lobpcg": lambda f: f(TALL, k=3, solver="lobpcg", rng=1),
    "propack": lambda f: f(TALL, k=3, solver="propack", rng=1),
    "v0, tol, maxiter": lambda f: f(TALL, 3, None, 1e-10, "LM", np.ones(40), 500),
    "k is 0": lambda f: f(TALL, k=0),
    "k too large": lambda f: f(TALL, k=41),
    "unknown which": lambda f: f(TALL, k=3, which="LA"),
    "unknown solver": lambda f: f(TALL, k=3, solver="lapack"),
}
# SciPy projects its X in place.
LOBPCG = {
    "largest": lambda f: f(A, X.copy(), tol=1e-9, maxiter=300),
    "smallest": lambda f: f(A, X.copy(), largest=False, tol=1e-9, maxiter=300),
    "B": lambda f: f(A, X.copy(), B=M, largest=False, tol=1e-9, maxiter=300),
    "preconditioner": lambda f: f(A, X.copy(), M=inverse, largest=False, tol=1e-9, maxiter=300),
    "constraints": lambda f: f(A, X.copy(), Y=LOWEST, largest=False, tol=1e-9, maxiter=300),
    "functions": lambda f: f(lambda V: A @ V, X.copy(), None, lambda V: inverse @ V, tol=1e-9, maxiter=300),
    "dense": lambda f: f(A.toarray(), X.copy(), largest=False, tol=1e-9, maxiter=300),
    "integers": lambda f: f(INTEGERS, X.copy(), largest=False, tol=1e-9, maxiter=300),
    "histories": lambda f: f(A, X.copy(), tol=1e-9, maxiter=300, retLambdaHistory=True)[:2],
    "Y of another order": lambda f: f(A, X.copy(), Y=np.ones((7, 1))),
}
CG = {
    "defaults": lambda f: f(A, b),
    "rtol": lambda f: f(A, b, rtol=1e-12),
    "x0": lambda f: f(A, b, x0=np.ones(n), rtol=1e-10),
    "positional x0": lambda f: f(A, b, np.ones(n)),
    "atol": lambda f: f(A, b, rtol=0, atol=1e-9),
    "preconditioner": lambda f: f(A, b, M=jacobi, rtol=1e-10),
    "dense": lambda f: f(A.toarray(), b, rtol=1e-10),
    "operator": lambda f: f(product, b, rtol=1e-10),
    "coo": lambda f: f(A.tocoo(), b, rtol=1e-10),
    "b is a list": lambda f: f(A, b.tolist(), rtol=1e-10),
    "b of integers": lambda f: f(A, np.arange(n), rtol=1e-10),
    "integers": lambda f: f(INTEGERS, np.arange(n), rtol=1e-10),
    "single precision": lambda f: f(SINGLE, b.astype(np.float32), rtol=1e-5),
    "b is a Series": lambda f: f(A, pandas.Series(b), rtol=1e-10),
    "b is zero": lambda f: f(A, np.zeros(n)),
    "one iteration": lambda f: (None, f(A, b, rtol=1e-10, maxiter=1)[1]),
    "b too short": lambda f: f(A, b[:-1]),
    "x0 too short": lambda f: f(A, b, x0=b[:-1]),
}
LSQR = {
    "defaults": lambda f: f(TALL, c),
    "tolerances": lambda f: f(TALL, c, atol=1e-12, btol=1e-12),
    "damp": lambda f: f(TALL, c, 0.5, 1e-12, 1e-12),
    "x0": lambda f: f(TALL, c, x0=np.ones(40), atol=1e-12, btol=1e-12),
    "wide": lambda f: f(WIDE, c[:40], atol=1e-12, btol=1e-12),
    "consistent": lambda f: f(TALL, TALL @ np.ones(40), atol=1e-10, btol=1e-10),
    "dense": lambda f: f(TALL.toarray(), c, atol=1e-12, btol=1e-12),
    "operator": lambda f: f(product_of_tall, c, atol=1e-12, btol=1e-12),
    "b is a list": lambda f: f(TALL, c.tolist(), atol=1e-12, btol=1e-12),
    "b is a column": lambda f: f(TALL, c[:, None], atol=1e-12, btol=1e-12),
    "integers": lambda f: f(np.arange(35).reshape(7, 5) % 4, np.arange(7), atol=1e-12, btol=1e-12),
    "b is zero": lambda f: f(TALL, np.zeros(70)),
    "b too short": lambda f: f(TALL, c[:-1]),
}
GRAPHS = {
    "defaults": lambda f: f(ADJACENCY, n_components=8),
    "components": lambda f: f(ADJACENCY, n_components=3),
    "dense": lambda f: f(ADJACENCY.toarray(), n_components=2),
    "integers": lambda f: f(ADJACENCY.astype(int), n_components=2),
}
FIEDLER = {"graph": lambda f: f(GRAPH)}

CALLS = {
    "eigsh": EIGSH,
    "svds": SVDS,
    "lobpcg": LOBPCG,
    "cg": CG,
    "lsqr": LSQR,
    "lsmr": LSQR,
    "spectral_embedding": GRAPHS,
    "fiedler": FIEDLER,
}
EACH = [(name, title) for name, calls in CALLS.items() for title in calls]


def outcome(library, name, title):
    """What a call returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return CALLS[name][title](getattr(library, name))
        except Exception as error:
            return error


def close(ours, theirs, rtol):
    """Compares types, shapes and values."""
    assert isinstance(ours, np.ndarray) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=rtol * abs(theirs).max(initial=1e-300))


def same_up_to_sign(ours, theirs, rtol):
    """Compares the columns of blocks."""
    signs = np.sign((np.asarray(ours) * theirs).sum(axis=0))
    close(ours * signs.astype(ours.dtype), theirs, rtol)


def compare_pairs(ours, theirs):
    if not isinstance(theirs, tuple):
        return close(ours, theirs, 1e-8)
    assert len(ours) == len(theirs) == 2
    rtol = 1e-4 if theirs[0].dtype == np.float32 else 1e-8
    close(ours[0], theirs[0], rtol)
    same_up_to_sign(ours[1], theirs[1], 100 * rtol)


def compare_triplets(ours, theirs):
    if not isinstance(theirs, tuple):
        return close(ours, theirs, 1e-8)
    assert [part is None for part in ours] == [part is None for part in theirs]
    rtol = 1e-4 if theirs[1].dtype == np.float32 else 1e-8
    close(ours[1], theirs[1], rtol)
    if theirs[0] is not None:
        same_up_to_sign(ours[0], theirs[0], 100 * rtol)
    if theirs[2] is not None:
        same_up_to_sign(ours[2].T, theirs[2].T, 100 * rtol)


def compare_solutions(ours, theirs):
    assert type(ours[1]) is type(theirs[1]) and ours[1] == theirs[1]
    if theirs[0] is not None:
        close(ours[0], theirs[0], 1e-4)


def compare_lsqr(ours, theirs):
    """x, istop, r1norm, r2norm and the shape of var. The others are estimates of a run: with x0, SciPy's
    xnorm is not the norm of x. By default both x have the error that atol = 1e-6 allows."""
    assert len(ours) == len(theirs) == 10 and isinstance(ours[2], int)
    close(ours[0], theirs[0], 1e-4)
    assert ours[1] == theirs[1]
    np.testing.assert_allclose(ours[8], np.linalg.norm(ours[0]), rtol=1e-12)
    np.testing.assert_allclose(ours[3:5], theirs[3:5], atol=1e-6)
    assert ours[9].shape == theirs[9].shape


def compare_lsmr(ours, theirs):
    """x, istop unless it names a limit, normr and normx."""
    assert len(ours) == len(theirs) == 8 and isinstance(ours[2], int)
    close(ours[0], theirs[0], 1e-4)
    assert theirs[1] in (ours[1], 7)
    np.testing.assert_allclose([ours[3], ours[7]], [theirs[3], theirs[7]], atol=1e-5)


def compare_embeddings(ours, theirs):
    same_up_to_sign(ours, theirs, 1e-6)


COMPARISONS = {
    "eigsh": compare_pairs,
    "svds": compare_triplets,
    "lobpcg": compare_pairs,
    "cg": compare_solutions,
    "lsqr": compare_lsqr,
    "lsmr": compare_lsmr,
    "spectral_embedding": compare_embeddings,
    "fiedler": compare_pairs,
}


def kind_of(error):
    """The first class of an exception that Python defines."""
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins")


@pytest.mark.parametrize(("name", "title"), EACH)
def test_call(name, title):
    theirs, ours = outcome(THEIRS, name, title), outcome(heddle, name, title)
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception) and issubclass(kind_of(ours), kind_of(theirs)), ours
    else:
        if isinstance(ours, Exception):
            raise ours
        COMPARISONS[name](ours, theirs)


def test_number_of_calls():
    assert len(EACH) >= 95
