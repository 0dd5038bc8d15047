"""Eigenvalues by dense LAPACK, made more exact where double precision is too coarse, each with a
bound of its own error."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import connected_components

EPS = np.finfo(np.float64).eps
LONG_EPS = float(np.finfo(np.longdouble).eps)
SAFETY = 4


@dataclass
class Spectrum:
    """The finite eigenvalues of A x = lambda B x in ascending order.

    |true value i - values[i]| <= errors[i]. `beta`: the smallest eigenvalue of B that is not zero
    (1 without B), a lower bound in which residuals become errors of eigenvalues."""

    values: np.ndarray
    errors: np.ndarray
    beta: float = 1.0
    infinite: int = 0

    def joined(self, other):
        return Spectrum(np.concatenate([self.values, other.values]),
                        np.concatenate([self.errors, other.errors]),
                        min(self.beta, other.beta), self.infinite + other.infinite)


def ldexp(X, exponent):
    """X 2^exponent of real or complex X."""
    if not np.iscomplexobj(X):
        return np.ldexp(X, exponent)
    scaled = np.empty(np.broadcast(X, exponent).shape, dtype=X.dtype)
    scaled.real, scaled.imag = np.ldexp(X.real, exponent), np.ldexp(X.imag, exponent)
    return scaled


def adjoint(X):
    return X.conj().T


@dataclass
class Scaled:
    """A matrix times the power of four that brings its largest entry near 1, so that squares
    neither overflow nor vanish, and roots of the scale are exact."""

    matrix: np.ndarray
    exponent: int = 0  # the given matrix is `matrix` * 2**exponent

    @staticmethod
    def of(given):
        numbers = np.complex128 if np.iscomplexobj(given) else np.float64
        largest = float(np.max(np.abs(given), initial=0.0))
        if largest == 0.0:
            return Scaled(np.array(given, dtype=numbers))
        exponent = 2 * (int(np.frexp(largest)[1]) // 2)
        return Scaled(ldexp(np.asarray(given, dtype=numbers), -exponent), exponent)


def real_form(A):
    """The symmetric matrix of the real and imaginary parts of vectors. It has the eigenvalues of a
    Hermitian A, each of them twice."""
    return np.block([[A.real, -A.imag], [A.imag, A.real]])


def every_second(twice):
    """The eigenvalues of a spectrum that has each of them twice."""
    if len(twice.values) % 2 or twice.infinite % 2:
        raise ValueError("an odd number of eigenvalues of a real form: no truth")
    values, errors = twice.values.reshape(-1, 2), twice.errors.reshape(-1, 2)
    better = (np.arange(len(values)), np.argmin(errors, axis=1))
    return Spectrum(values[better], errors[better], twice.beta, twice.infinite // 2)


def spectrum(A, B=None, coarse=False):
    """All finite eigenvalues of a symmetric or Hermitian pencil with B = I or B semidefinite.
    `coarse`: those of double precision, with the errors that this leaves."""
    if np.iscomplexobj(A) or np.iscomplexobj(B):
        return every_second(spectrum(real_form(A), None if B is None else real_form(B), coarse))
    scaled_A = Scaled.of(A)
    scaled_B = Scaled(np.eye(len(A))) if B is None else Scaled.of(B)
    found = Spectrum(np.empty(0), np.empty(0), beta=np.inf)
    for rows in parts(scaled_A.matrix, scaled_B.matrix):
        block = np.ix_(rows, rows)
        if B is None:
            part = standard(scaled_A.matrix[block], coarse)
        else:
            part = pencil(scaled_A.matrix[block], scaled_B.matrix[block], coarse)
        found = found.joined(part)
    order = np.argsort(found.values, kind="stable")
    shift = scaled_A.exponent - scaled_B.exponent
    return Spectrum(np.ldexp(found.values[order], shift), np.ldexp(found.errors[order], shift),
                    float(np.ldexp(found.beta, scaled_B.exponent)), found.infinite)


def dense_eigh(A, B=None):
    """LAPACK's fast drivers end with an internal error once in some thousand matrices."""
    try:
        return scipy.linalg.eigh(A, B)
    except np.linalg.LinAlgError as error:
        if "Internal" not in str(error):
            raise
        return scipy.linalg.eigh(A, B, driver="ev" if B is None else "gv")


def parts(A, B):
    """Row numbers of the connected components. Each of them has rounding errors of its own size."""
    count, labels = connected_components((A != 0) | (B != 0), directed=False)
    return [np.flatnonzero(labels == part) for part in range(count)]


def standard(A, coarse=False):
    """Eigenvalues of one connected symmetric matrix."""
    if len(A) == 1:
        return Spectrum(A[0].copy(), np.zeros(1))
    if coarse:
        values = scipy.linalg.eigh(A, eigvals_only=True, driver="ev")
    else:
        values, vectors = dense_eigh(A)
    size = max(abs(values[0]), abs(values[-1]))
    errors = np.full(len(A), SAFETY * len(A) * EPS * size)
    if coarse or errors[0] <= 1e-10 * np.min(np.abs(values)):
        return Spectrum(values, errors)
    values, errors = refined(A, None, vectors, 1.0)
    graded = graded_values(A)
    if graded is None:
        graded = shifted_graded_values(A)
    if graded is not None:
        better = graded[1] < errors
        values, errors = np.where(better, graded[0], values), np.where(better, graded[1], errors)
    return Spectrum(values, errors)


def refined(A, B, vectors, beta):
    """Eigenvalues in long double from eigenvectors X in double precision. `beta`: the smallest
    eigenvalue of B.

    X is made B-orthonormal in long double. XᵀAX is then diagonal except for E, of the size of double
    rounding. Eigenvalues within a gap of each other form a group that is solved by itself; what
    couples groups moves values by E²/gap."""
    n = len(A)
    X = vectors.astype(np.longdouble)
    identity = np.eye(n, dtype=np.longdouble)
    for _ in range(4):
        defect = identity - product(X.T, X if B is None else product(B, X))
        X = X + product(X, defect) / 2
        if np.max(np.abs(defect)) < 1e-10:
            break
    H = product(X.T, product(A, X))
    H = (H + H.T) / 2
    order = np.argsort(np.diag(H))
    H = H[np.ix_(order, order)]
    diagonal = np.diag(H).copy()
    coupling = float(np.max(np.abs(H - np.diag(diagonal)), initial=0.0))
    gap = coupling / np.sqrt(EPS)
    values, errors = np.empty(n), np.empty(n)
    starts = [0, *(1 + np.flatnonzero(np.diff(diagonal) > gap)), n]
    for first, last in zip(starts[:-1], starts[1:]):
        middle = diagonal[first:last].mean()
        group = (H[first:last, first:last] - middle * np.eye(last - first)).astype(np.float64)
        values[first:last] = middle + np.linalg.eigvalsh(group).astype(np.longdouble)
        errors[first:last] = (last - first) * EPS * np.max(np.abs(group))
    norm_A = np.max(np.sum(np.abs(A), axis=0))
    norm_B = 1.0 if B is None else np.max(np.sum(np.abs(B), axis=0))
    rounding = np.sqrt(n) * LONG_EPS * (norm_A + np.abs(values) * norm_B) / beta
    mixing = np.sqrt(n) * coupling * np.sqrt(EPS)
    return values, SAFETY * (errors + rounding + mixing) + EPS * np.abs(values)


def product(M, N):
    """M N in long double, from exact products of slices of 22 bits in double precision, with sums
    over up to 512 terms (Ozaki, Ogita, Oishi, Rump 2012)."""
    left = slices(np.asarray(M, dtype=np.longdouble))
    right = [piece.T for piece in slices(np.asarray(N, dtype=np.longdouble).T)]
    total = np.zeros((left[0].shape[0], right[0].shape[1]), dtype=np.longdouble)
    for depth in (2, 1, 0):  # the small ones first
        for i in range(depth + 1):
            for first in range(0, left[0].shape[1], 512):
                inner = slice(first, first + 512)
                total += left[i][:, inner] @ right[depth - i][inner]
    return total


def slices(M):
    """Three matrices of doubles whose sum is M up to 2^-66 of the largest entry of each row."""
    largest = np.max(np.abs(M), axis=1, keepdims=True).astype(np.float64)
    unit = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 22)
    pieces = []
    for _ in range(3):
        piece = (np.rint(M / unit) * unit).astype(np.float64)
        M = M - piece
        pieces.append(piece)
        unit = np.ldexp(unit, -22)
    return pieces


def graded_values(A):
    """Eigenvalues of a positive definite A with their relative accuracy (Demmel and Veselić 1992):
    squares of the singular values of its Cholesky factor by Jacobi rotations. None where A is not
    positive definite or the scaled matrix is too ill conditioned."""
    diagonal = np.diag(A)
    if np.min(diagonal) <= 0:
        return None
    scale = np.exp2(np.round(np.log2(diagonal) / 2))
    balanced = A / scale[:, None] / scale[None, :]
    smallest = np.linalg.eigvalsh(balanced)[0]
    relative = SAFETY * len(A) ** 1.5 * EPS / smallest if smallest > 0 else 1.0
    if relative > 0.01:
        return None
    factor = np.linalg.cholesky(balanced) * scale[:, None]
    sigma, _, _, work, _, info = scipy.linalg.lapack.dgejsv(factor, joba=2, jobu=3, jobv=3)
    if info != 0:
        return None
    values = np.sort((sigma * (work[0] / work[1])) ** 2)
    return values, relative * values


def shifted_graded_values(A):
    """The same for an indefinite A, whose values then have small errors beside their distance from a
    number below all of them."""
    below = float(np.min(2 * np.diag(A) - np.sum(np.abs(A), axis=0)))
    below -= np.min(np.sum(np.abs(A), axis=0))
    if below >= 0:
        return None
    graded = graded_values(A - below * np.eye(len(A)))
    if graded is None:
        return None
    values, errors = graded
    return values + below, errors + SAFETY * EPS * (np.abs(values) + abs(below))


def graded_pencil(A, B):
    """Eigenvalues of a pencil of positive definite matrices with their relative accuracy. With
    A = L Lᵀ and B = M Mᵀ they are the inverse squares of the singular values of L⁻¹M, by Jacobi
    rotations. None where a matrix is not positive definite or, scaled to a diagonal of ones, too
    ill conditioned.

    Rows with large masses go first: L⁻¹M is then a well conditioned matrix times a diagonal one, so
    that small relative errors of its columns are small relative errors of its singular values."""
    if min(np.min(np.diag(A)), np.min(np.diag(B))) <= 0:
        return None
    order = np.argsort(-np.diag(B) / np.diag(A), kind="stable")
    A, B = (M[np.ix_(order, order)] for M in (A, B))
    factors, relative = [], 0.0
    for matrix in (A, B):
        scale = np.exp2(np.round(np.log2(np.diag(matrix)) / 2))
        balanced = matrix / scale[:, None] / scale[None, :]
        smallest = np.linalg.eigvalsh(balanced)[0]
        relative += SAFETY * len(A) ** 1.5 * EPS / smallest if smallest > 0 else 1.0
        if relative > 0.01:
            return None
        factors.append((np.linalg.cholesky(balanced), scale))
    (L, of_A), (M, of_B) = factors
    G = scipy.linalg.solve_triangular(L, M * (of_B / of_A)[:, None], lower=True)
    sigma, _, _, work, _, info = scipy.linalg.lapack.dgejsv(G, joba=2, jobu=3, jobv=3)
    if info != 0 or np.min(sigma) <= 0:
        return None
    values = np.sort((sigma * (work[0] / work[1])) ** -2.0)
    return values, relative * values


def pencil(A, B, coarse=False):
    """Finite eigenvalues of one connected pencil with B positive semidefinite."""
    masses, directions = dense_eigh(B)
    graded = None if coarse else graded_pencil(A, B)
    if graded is not None:
        hidden = masses[0] <= 1e-8 * masses[-1]  # LAPACK does not tell tiny masses from zeros
        if hidden or np.max(graded[1] / graded[0]) <= 1e-10:
            return Spectrum(*graded, float(graded_values(B)[0][0]))
    largest = max(abs(masses[0]), abs(masses[-1]))
    zero = masses <= 10 * len(A) * EPS * largest
    if np.any(zero):
        return semidefinite_pencil(A, masses, directions, zero)
    beta = masses[0]
    if coarse:
        values = scipy.linalg.eigh(A, B, eigvals_only=True, driver="gv")
        size = np.max(np.sum(np.abs(A), axis=0)) + np.max(np.abs(values)) * masses[-1]
        return Spectrum(values, np.full(len(A), SAFETY * len(A) * EPS * size / beta), beta)
    # Slices of 22 bits are those of whole columns: rows of tiny masses would take all of them.
    scale = np.exp2(np.round(np.log2(np.diag(B)) / 2))
    A, B = (M / scale[:, None] / scale[None, :] for M in (A, B))
    values, errors = refined(A, B, dense_eigh(A, B)[1], np.linalg.eigvalsh(B)[0])
    return Spectrum(values, errors, beta)


def semidefinite_pencil(A, masses, directions, zero):
    """Finite eigenvalues where B has the null space N: those of the Schur complement of NᵀAN."""
    R, N = directions[:, ~zero], directions[:, zero]
    if R.shape[1] == 0:
        return Spectrum(np.empty(0), np.empty(0), beta=np.inf, infinite=len(A))
    inner = N.T @ A @ N
    sizes = np.abs(np.linalg.eigvalsh(inner))
    norm_A = np.linalg.norm(A, 2)
    if sizes.min() <= 1e-12 * norm_A:
        raise ValueError("A is singular on the null space of B: no truth")
    schur = R.T @ A @ R - R.T @ A @ N @ np.linalg.solve(inner, N.T @ A @ R)
    beta = masses[~zero].min()
    values = scipy.linalg.eigh(schur, np.diag(masses[~zero]), eigvals_only=True)
    size = norm_A * (1 + norm_A / sizes.min()) + np.abs(values) * masses.max()
    return Spectrum(values, SAFETY * len(A) * EPS * size / beta, beta, int(zero.sum()))


def eigenvectors(A, B=None):
    """Eigenvectors in double precision with values in ascending order. Where B is not definite they
    are those of B x = mu A x, and where A is not either, those of A."""
    A = Scaled.of(A).matrix
    if B is None:
        return dense_eigh(A)[1]
    B = Scaled.of(B).matrix
    for first, second, step in ((A, B, 1), (B, A, -1)):
        try:
            return dense_eigh(first, second)[1][:, ::step]
        except np.linalg.LinAlgError:
            continue
    return dense_eigh(A)[1]


def knows_complements(B):
    """Whether values on a complement of constraints are known: not beside tiny masses, which an
    orthogonal transformation hides."""
    if B is None:
        return True
    masses = np.diag(B).real
    return not 0 < np.min(masses) <= 1e-10 * np.max(masses)


def constrained(A, B, C):
    """The pencil on the B-orthogonal complement of the columns of C, (ZᴴAZ, ZᴴBZ), and Z."""
    BC = C if B is None else B @ C
    Q, R, _ = scipy.linalg.qr(BC, pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > 1e-12 * diagonal.max(initial=0.0)))
    Z = Q[:, rank:]
    reduced = [None if M is None else adjoint(Z) @ M @ Z for M in (A, B)]
    return *(None if M is None else (M + adjoint(M)) / 2 for M in reduced), Z


def reduction_errors(A, B, Z, spectrum):
    """What rounding in Z, ZᴴAZ and ZᴴBZ may change of the finite eigenvalues of the reduced pencil."""
    reduced = [None if M is None else adjoint(Z) @ M @ Z for M in (A, B)]
    values, Y = dense_eigh(*reduced)
    X = np.abs(Z) @ np.abs(Y)
    BX = X if B is None else np.abs(B) @ X
    sizes = np.sum(X * (np.abs(A) @ X), axis=0) + np.abs(values) * np.sum(X * BX, axis=0)
    errors = SAFETY * np.sqrt(len(A)) * EPS * sizes
    return errors if len(errors) == len(spectrum.values) else np.max(errors, initial=0.0)


@dataclass
class SingularValues:
    """Singular values in descending order, each within `error`."""

    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    error: float = 0.0


def singular_values(A):
    if np.all(np.count_nonzero(A, axis=0) <= 1) and np.all(np.count_nonzero(A, axis=1) <= 1):
        entries = np.sort(np.abs(A[A != 0]))[::-1]  # exact
        return SingularValues(np.pad(entries, (0, min(A.shape) - len(entries))))
    scaled = Scaled.of(A)
    values = np.linalg.svd(scaled.matrix, compute_uv=False)
    error = SAFETY * max(A.shape) * EPS * (values[0] if len(values) else 0.0)
    return SingularValues(np.ldexp(values, scaled.exponent), float(np.ldexp(error, scaled.exponent)))
