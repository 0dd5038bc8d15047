"""Hermitian matrices and pencils with complex entries. Their truth has twice the rows, hence `MOST`."""

import numpy as np

from .base import (FAMILIES, Problem, direct_sum, family, gaussian, graph_laplacian, grid,
                   laplace1d, log_uniform, permuted, perhaps_permuted, random_sparse_symmetric,
                   random_tree, sparse_spd)

MOST = 275  # above the 256 rows that are solved densely
REAL = ["clusters", "copies", "semidefinite", "wilkinson", "penalty", "hard_core", "graded_mass",
        "weakly_held_part", "weakly_held_pencil", "near_kernel_blocks", "stiff_springs", "graded",
        "penalty_terms", "beam", "needle", "conditioned_mass", "finite_elements", "congruent",
        "equal_matrices", "components", "barbell", "path_with_weights", "weighted_geometric",
        "block_diagonal", "saddle_point", "shifted_grid", "deep_wells", "named", "scaled",
        "scaled_pencil", "shifted_far", "massless", "indefinite_mass", "shared_null_space"]


def hermitian(kind="eigen"):
    return family(kind, MOST)


def phases(rng, n):
    return np.exp(2j * np.pi * rng.random(n))


def quarter_turns(rng, n):
    """Phases whose products with numbers are exact."""
    return np.array([1, 1j, -1, -1j])[rng.integers(0, 4, n)]


def gauged(problem, P):
    """P A P^H x = lambda P B P^H x with a diagonal unitary P: the same eigenvalues."""
    def turned(M):
        return None if M is None else P[:, None] * M * P.conj()[None, :]
    rhs = None if problem.rhs is None else P[:, None] * problem.rhs
    return Problem(turned(problem.A), turned(problem.B), rhs, about=problem.about,
                   refuse=problem.refuse, coarse=problem.coarse, held=problem.held)


def unitary(rng, n):
    Q, R = np.linalg.qr(gaussian(rng, (n, n)))
    return Q * (np.diag(R) / np.abs(np.diag(R)))


def with_values(rng, values):
    """A dense Hermitian matrix with these eigenvalues up to rounding of its entries."""
    U = unitary(rng, len(values))
    return (U * values) @ U.conj().T


def with_phases(rng, A, spread=1.0):
    """A with a random phase on every bond: another spectrum than that of A."""
    angles = np.triu(rng.uniform(-np.pi, np.pi, A.shape) * spread, 1)
    return A * np.exp(1j * (angles - angles.T))


def spd(rng, n, per_row=4):
    return with_phases(rng, sparse_spd(rng, n, per_row))


def bond(A, i, j, angle, weight):
    """Adds weight |x_i - e^(i angle) x_j|^2 to the form of A."""
    A[i, i] += weight
    A[j, j] += weight
    A[i, j] -= weight * np.exp(1j * angle)
    A[j, i] -= weight * np.exp(-1j * angle)


def flux_ring(n, flux, weight=1.0):
    """A ring around a flux: 4 sin^2(pi (k + flux) / n)."""
    A = np.zeros((n, n), dtype=complex)
    for i in range(n):
        bond(A, i, (i + 1) % n, 2 * np.pi * flux / n, weight)
    return A


def lattice(nx, ny, flux, periodic=False):
    """A particle on a grid with `flux` quanta of a magnetic field per cell."""
    A = 4 * np.eye(nx * ny, dtype=complex)
    for x in range(nx):
        for y in range(ny):
            i = x * ny + y
            if y + 1 < ny or periodic:
                j = x * ny + (y + 1) % ny
                bond(A, i, j, 2 * np.pi * flux * x, 1.0)
            if x + 1 < nx or periodic:
                bond(A, i, ((x + 1) % nx) * ny + y, 0.0, 1.0)
    np.fill_diagonal(A, 4)
    return A


def some_flux(rng):
    """A fraction, hardly anything, hardly a half, or any number."""
    return [float(rng.choice([0.0, 0.5, 0.25, 1 / 3, 0.2])), log_uniform(rng, -9, -1),
            0.5 - log_uniform(rng, -9, -1), rng.random()][int(rng.integers(0, 4))]


@hermitian()
def complex_gauge(rng, n):
    """A real problem of another family with exact phases, and thus its very spectrum."""
    name = REAL[int(rng.integers(0, len(REAL)))]
    problem = FAMILIES[name][1](rng, n)
    turned = gauged(problem, quarter_turns(rng, len(problem.A)))
    turned.about = f"{name}: {problem.about}"
    return turned


@hermitian()
def complex_gauge_rounded(rng, n):
    """A real problem of another family with any phases."""
    name = REAL[int(rng.integers(0, len(REAL)))]
    problem = FAMILIES[name][1](rng, n)
    if problem.refuse or name in ("massless", "scaled", "scaled_pencil"):  # rounding decides
        name, problem = "grid", Problem(grid(rng, n))
    turned = gauged(problem, phases(rng, len(problem.A)))
    turned.about = f"{name}: {problem.about}"
    return turned


@hermitian()
def complex_declared(rng, n):
    """A real problem in files of complex numbers; perhaps only one of two matrices."""
    name = REAL[int(rng.integers(0, len(REAL)))]
    problem = FAMILIES[name][1](rng, n)
    problem.about = f"{name}: {problem.about}"
    if problem.B is None or rng.random() < 0.5:
        problem.A = problem.A.astype(complex)
    else:
        problem.B = problem.B.astype(complex)
    return problem


@hermitian()
def complex_random(rng, n):
    """Dense or sparse, positive definite or not."""
    form = int(rng.integers(0, 3))
    if form == 0:
        G = gaussian(rng, (n, n))
        A = G + G.conj().T
    else:
        A = with_phases(rng, random_sparse_symmetric(rng, n, rng.uniform(0.5, 8)))
    if form == 2:
        A = spd(rng, n, rng.uniform(1, 8))
    return Problem(A, coarse=True, about=["dense", "sparse", "dominant"][form])


@hermitian()
def complex_clusters(rng, n):
    """A few clusters of up to 20 values with a width from 0 to 1e-3."""
    values, width = [], 0.0 if rng.random() < 0.4 else log_uniform(rng, -14, -3)
    while len(values) < n:
        size = int(rng.integers(1, 21))
        values += list(rng.uniform(-1, 1) * 10 + width * rng.uniform(-1, 1, size))
    return Problem(with_values(rng, np.array(values[:n])), about=f"clusters of width {width:.1e}")


@hermitian()
def complex_copies(rng, n):
    """The same small matrix many times, perhaps each time in another gauge."""
    times = int(rng.integers(2, 21))
    size = max(1, n // times)
    M = with_values(rng, rng.uniform(-5, 5, size)) if size < 30 else flux_ring(size, some_flux(rng))
    blocks = [gauged(Problem(M), quarter_turns(rng, size)).A for _ in range(times)]
    if rng.random() < 0.3:
        blocks = [block * log_uniform(rng, -6, 6) for block in blocks]
    return Problem(permuted(rng, direct_sum(*blocks)), about=f"{times} copies of order {size}")


@hermitian()
def complex_graded(rng, n):
    """D M D^H with |D| from 10^-d to 10^d in any order and M well conditioned."""
    decades = rng.uniform(1, 12)
    D = 10.0 ** np.linspace(-decades, decades, n)
    if rng.random() < 0.5:
        rng.shuffle(D)
    D = D * phases(rng, n)
    return Problem(spd(rng, n) * D[:, None] * D.conj()[None, :], about=f"D over 10^+-{decades:.1f}")


@hermitian()
def complex_steep(rng, n):
    """Eigenvalues that fall by a constant factor, of one sign or of both."""
    decades = rng.uniform(2, 16)
    values = 10.0 ** -np.linspace(0, decades, n)
    if rng.random() < 0.3:
        values *= np.where(rng.random(n) < 0.5, -1, 1)
    return Problem(with_values(rng, values), about=f"{decades:.1f} decades")


@hermitian()
def complex_ring(rng, n):
    """A ring: pairs of values that a flux near 0 or 1/2 hardly parts."""
    flux, shift = some_flux(rng), float(rng.choice([0.0, 0.0, 1.0, 4.0]))
    n = max(2, n)
    return Problem(flux_ring(n, flux) - shift * np.eye(n), about=f"flux {flux:.3e}, shift {shift}")


@hermitian()
def complex_landau(rng, n):
    """A lattice in a magnetic field, open or periodic, perhaps with disorder: bands and flat levels."""
    nx = int(rng.integers(1, max(2, int(np.sqrt(n)) + 1)))
    ny = max(1, n // nx)
    periodic = nx > 2 and ny > 2 and rng.random() < 0.5
    flux = int(rng.integers(0, nx)) / nx if periodic else some_flux(rng)
    disorder = 0.0 if rng.random() < 0.5 else log_uniform(rng, -12, 2)
    A = lattice(nx, ny, flux, periodic)
    A = A + np.diag(disorder * rng.uniform(-0.5, 0.5, len(A)))
    return Problem(A, coarse=True, about=f"{nx} x {ny}, periodic {periodic}, flux {flux:.3e}, "
                                         f"disorder {disorder:.1e}")


@hermitian()
def complex_flux(rng, n):
    """A graph Laplacian with phases on its bonds. With hardly any the constant nearly is a null vector."""
    spread = log_uniform(rng, -9, 0)
    if rng.random() < 0.5:
        A = grid(rng, n)
    else:
        edges = random_tree(rng, n) + [tuple(rng.integers(0, n, 2)) for _ in range(n // 2)]
        A = graph_laplacian(n, edges, 10.0 ** rng.uniform(-rng.uniform(0, 4), 0, len(edges)))
    return Problem(with_phases(rng, A, spread), about=f"phases to {spread:.1e} pi")


@hermitian()
def complex_stiff_rings(rng, n):
    """A soft lattice beside stiff rings that nothing but their small fluxes holds."""
    nx = int(rng.integers(1, max(2, int(np.sqrt(n)) + 1)))
    soft, blocks = lattice(nx, max(1, n // nx), some_flux(rng)), []
    stiffness = log_uniform(rng, 1, 9)
    for _ in range(int(rng.integers(1, 4))):
        size = int(rng.integers(2, 9))
        energy = log_uniform(rng, -2, 1)  # of the ring: stiffness (2 pi flux / size)^2
        flux = min(0.5, np.sqrt(energy / stiffness) * size / (2 * np.pi))
        blocks.append(flux_ring(size, flux, stiffness))
    A = direct_sum(soft, *blocks)
    if rng.random() < 0.5:
        row = len(soft)
        for block in blocks:
            bond(A, int(rng.integers(0, len(soft))), row, 6.28 * rng.random(), log_uniform(rng, -8, 0))
            row += len(block)
    return Problem(perhaps_permuted(rng, A), about=f"{len(blocks)} rings of {stiffness:.1e}")


@hermitian()
def complex_springs(rng, n):
    """A chain of springs with phases, some of them very stiff, closed to a ring or held at an end."""
    n = max(2, n)
    weights, stiff = np.ones(n), log_uniform(rng, 3, 12)
    weights[rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)] = stiff
    A = np.zeros((n, n), dtype=complex)
    for i in range(n - 1):
        bond(A, i, i + 1, 2 * np.pi * rng.random(), weights[i])
    closed = rng.random() < 0.5 and n > 2
    if closed:
        bond(A, n - 1, 0, 2 * np.pi * rng.random(), weights[-1])
    elif rng.random() < 0.5:
        A[0, 0] += 1
    return Problem(A, about=f"springs of {stiff:.1e}, closed {closed}")


@hermitian()
def complex_penalty(rng, n):
    """A lattice with penalties on rows and on combinations with phases, with masses or without."""
    nx = int(rng.integers(1, max(2, int(np.sqrt(n)) + 1)))
    A = lattice(nx, max(1, n // nx), some_flux(rng))
    n, factor = len(A), log_uniform(rng, 4, 16)
    rows = rng.choice(n, size=int(rng.integers(1, max(2, n // 4))), replace=False)
    A[rows, rows] += factor
    combinations = int(rng.integers(0, 3)) if n > 4 else 0
    for _ in range(combinations):
        v = np.zeros(n, dtype=complex)
        v[rng.choice(n, size=3, replace=False)] = np.array([1, -2, 1]) * quarter_turns(rng, 3)
        A += factor * np.outer(v, v.conj())
    about = f"{len(rows)} of {n} rows and {combinations} combinations of {factor:.1e}"
    form = int(rng.integers(0, 4))
    masses = 4 * np.eye(n) + np.eye(n, k=1) * np.exp(1j) + np.eye(n, k=-1) * np.exp(-1j)
    B = [None, None, np.eye(n) * log_uniform(rng, -9, 0), masses * log_uniform(rng, -9, 0)][form]
    return Problem(A, B, about=about + f", mass {form}")


@hermitian()
def complex_tensor(rng, n):
    """Sums and products of small matrices over two or three factors: equal values."""
    count = int(rng.integers(2, 4))
    size = max(1, int(n ** (1 / count)))
    factor = with_values(rng, rng.integers(-3, 4, size) + log_uniform(rng, -12, 0) * rng.random(size))
    sums = rng.random() < 0.5
    A = factor
    for _ in range(count - 1):
        A = np.kron(A, np.eye(size)) + np.kron(np.eye(len(A)), factor) if sums else np.kron(A, factor)
    return Problem(A, about=f"{'sum' if sums else 'product'} of {count} factors of order {size}")


@hermitian()
def complex_kramers(rng, n):
    """[[H, D], [-D*, H*]] with a skew D: every value twice, for a reason that no entry shows."""
    half = max(1, n // 2)
    H = with_phases(rng, random_sparse_symmetric(rng, half, 4))
    G = gaussian(rng, (half, half)) * (rng.random((half, half)) < 3 / half)
    D = (G - G.T) * log_uniform(rng, -6, 1)
    A = np.block([[H, D], [-D.conj(), H.conj()]]) + rng.uniform(-1, 5) * np.eye(2 * half)
    return Problem(perhaps_permuted(rng, A), coarse=True, about=f"order {2 * half}")


@hermitian()
def complex_honeycomb(rng, n):
    """Haldane's model: values of both signs around a gap, periodic or with an edge."""
    nx = max(1, int(np.sqrt(n / 2)))
    ny = max(1, n // (2 * nx))
    periodic = rng.random() < 0.5
    t2, staggered, angle = rng.uniform(0, 0.3), rng.uniform(-1, 1), rng.uniform(-np.pi, np.pi)
    A = np.zeros((2 * nx * ny,) * 2, dtype=complex)
    for x in range(nx):
        for y in range(ny):
            for dx, dy in ((0, 0), (1, 0), (0, 1)):  # to the other sublattice
                if periodic or (x >= dx and y >= dy):
                    A[2 * (x * ny + y), 2 * ((x - dx) % nx * ny + (y - dy) % ny) + 1] += -1
            for dx, dy in ((1, 0), (-1, 1), (0, -1)):  # inside a sublattice
                if periodic or (0 <= x + dx < nx and 0 <= y + dy < ny):
                    j = 2 * ((x + dx) % nx * ny + (y + dy) % ny)
                    A[2 * (x * ny + y), j] += t2 * np.exp(1j * angle)
                    A[2 * (x * ny + y) + 1, j + 1] += t2 * np.exp(-1j * angle)
    A = A + A.conj().T + np.diag(np.tile([staggered, -staggered], nx * ny))
    return Problem(A, coarse=True, about=f"{nx} x {ny}, t2 {t2:.2f}, periodic {periodic}")


@hermitian()
def complex_saddle(rng, n):
    """[[K, C], [C^H, 0]]: values of both signs, some near zero."""
    K = with_phases(rng, grid(rng, max(2, 3 * n // 4)))
    m = max(1, min(len(K) - 1, n - len(K)))
    C = (rng.random((len(K), m)) < 3 / len(K)) * gaussian(rng, (len(K), m))
    return Problem(np.block([[K, C], [C.conj().T, np.zeros((m, m))]]), about=f"{m} multipliers")


@hermitian()
def complex_nearly_singular(rng, n):
    """F^H F of low rank plus hardly anything, or a lattice shifted to one of its values."""
    smallest = 0.0 if rng.random() < 0.3 else log_uniform(rng, -16, -2)
    if rng.random() < 0.5:
        F = gaussian(rng, (max(1, n - int(rng.integers(1, 21))), n))
        return Problem(F.conj().T @ F + smallest * np.eye(n), about=f"low rank plus {smallest:.1e}")
    A = with_phases(rng, grid(rng, n))
    values = np.linalg.eigvalsh(A)
    shift = values[int(rng.integers(0, len(values)))] + smallest
    return Problem(A - shift * np.eye(len(A)), about=f"shifted by {shift:.6g}")


@hermitian()
def complex_imaginary(rng, n):
    """i K with a real skew K: values in pairs t and -t, real parts all zero."""
    K = random_sparse_symmetric(rng, n, rng.uniform(1, 6))
    if rng.random() < 0.3:
        K = K * 10.0 ** rng.uniform(-4, 0, K.shape)
    return Problem(1j * (np.triu(K, 1) - np.triu(K, 1).T), coarse=True, about="i K")


@hermitian()
def complex_tiny(rng, n):
    """Orders 1 to 3, perhaps with masses."""
    n = int(rng.integers(1, 4))
    G = (rng.integers(-2, 3, (n, n)) + 1j * rng.integers(-2, 3, (n, n))) * log_uniform(rng, -3, 3)
    kind = int(rng.integers(0, 4))
    A = [G + G.conj().T, flux_ring(n, some_flux(rng)) if n > 1 else np.zeros((1, 1), complex),
         with_values(rng, np.repeat(rng.uniform(-1, 1), n)), G.conj().T @ G][kind]
    B = spd(rng, n) if rng.random() < 0.4 else None
    return Problem(A, B, about=f"order {n}, kind {kind}")


@hermitian()
def complex_scaled(rng, n):
    """Entries of 1e-300 ... 1e300."""
    exponent = rng.uniform(1, 300) * (1 if rng.random() < 0.5 else -1)
    if rng.random() < 0.2:
        exponent = float(rng.choice([306, -165, -170, 154, -154, -290]))
    A = [with_phases(rng, grid(rng, n)), spd(rng, n), flux_ring(max(2, n), some_flux(rng)),
         direct_sum(*[spd(rng, 3)] * max(1, n // 3))][int(rng.integers(0, 4))]
    return Problem(A / np.abs(A).max() * 10.0 ** exponent, about=f"size 1e{exponent:.1f}")
