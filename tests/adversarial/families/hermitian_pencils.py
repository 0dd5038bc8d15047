"""Pencils and linear systems with complex matrices or right-hand sides."""

import numpy as np

from .base import (FAMILIES, Problem, gaussian, grid, laplace1d, log_uniform,
                   random_sparse_symmetric)
from .hermitian import (flux_ring, gauged, hermitian, lattice, phases, quarter_turns, some_flux, spd,
                        unitary, with_phases, with_values)
from .systems import right_hand_sides, system

SYSTEMS = ["spd_system", "stiff_system", "clustered_system", "singular_system", "indefinite_system",
           "identity_system", "scaled_system", "held_rhs"]


def hermitian_stiffness(rng, n):
    kind = int(rng.integers(0, 4))
    A = [with_phases(rng, grid(rng, n)), spd(rng, n), flux_ring(max(2, n), some_flux(rng)),
         spd(rng, n)][kind]
    if kind == 3:
        A = A - np.median(np.diag(A).real) * np.eye(len(A))
    return A, ["lattice", "definite", "ring", "indefinite"][kind]


@hermitian()
def complex_mass(rng, n):
    """cond(B) from 1 to 1e8: diagonal, dense or graded. One of the matrices may be real."""
    A, kind = hermitian_stiffness(rng, n)
    n, decades = len(A), rng.uniform(0, 8)
    masses = 10.0 ** -rng.permutation(np.linspace(0, decades, n))
    form = int(rng.integers(0, 3))
    root = np.sqrt(masses) * phases(rng, n)
    B = [lambda: np.diag(masses), lambda: with_values(rng, masses),
         lambda: spd(rng, n) * root[:, None] * root.conj()[None, :]][form]()
    if form > 0 and rng.random() < 0.3:
        A, kind = grid(rng, n), "real grid"
        B = B[:len(A), :len(A)]
    return Problem(A, B, about=f"A {kind}, B {['diagonal', 'dense', 'graded'][form]}, "
                               f"{decades:.1f} decades")


@hermitian()
def complex_congruent(rng, n):
    """A = S^H L S, B = S^H S with cond(S) to 1e4 and eigenvalues in clusters."""
    decades = rng.uniform(0, 4)
    n = min(n, 130)
    S = (unitary(rng, n) * 10.0 ** -np.linspace(0, decades, n)) @ unitary(rng, n)
    values = np.repeat(rng.uniform(0, 10, n), int(rng.integers(1, 8)))[:n]
    return Problem(S.conj().T @ (values[:, None] * S), S.conj().T @ S,
                   about=f"cond(B) about 10^{2 * decades:.1f}")


@hermitian()
def complex_graded_mass(rng, n):
    """Masses over many orders, coupled with phases: rotary masses beside others."""
    K = with_phases(rng, laplace1d(n)) + np.diag(rng.uniform(0, 0.1, n))
    smallest = rng.uniform(-16, -4)
    masses = np.where(np.arange(n) % 2 == 0, 1.0, 10.0 ** smallest)
    if rng.random() < 0.5:
        masses = 10.0 ** rng.uniform(smallest, 0, n)
    root = np.sqrt(masses) * phases(rng, n)
    M = 4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    return Problem(K, M * np.outer(root, root.conj()) / 6, about=f"masses down to 1e{smallest:.0f}")


@hermitian()
def complex_equal(rng, n):
    """A = c B, or A = c B + a matrix of rank one: nearly all eigenvalues equal."""
    B = spd(rng, n)
    A = float(rng.choice([1.0, 2.5, -1.0])) * B
    rank = int(rng.integers(0, 2))
    if rank:
        v = gaussian(rng, n)
        A = A + np.outer(v, v.conj())
    return Problem(A, B, about=f"c B plus rank {rank}")


@hermitian()
def complex_refused_mass(rng, n):
    """B with a negative or a zero eigenvalue."""
    A, _ = hermitian_stiffness(rng, max(2, n))
    values = rng.uniform(0.5, 1, len(A))
    negative = rng.random() < 0.5
    values[0] = -log_uniform(rng, -4, 0) if negative else 0.0
    U = unitary(rng, len(A))
    B = (U * values) @ U.conj().T
    if not negative:  # exactly: an empty row, or two rows that agree up to a phase
        B = spd(rng, len(A))
        B[0, :], B[:, 0] = 0, 0
        if rng.random() < 0.5:
            B[:2, :], B[:, :2] = 0, 0
            B[:2, :2] = [[1, 1j], [-1j, 1]]
    return Problem(A, B, refuse="B is not definite", about="negative" if negative else "singular")


@hermitian("linear")
def complex_system(rng, n):
    """Lattices, rings of hardly any flux, dominant and clustered matrices."""
    kind = int(rng.integers(0, 5))
    if kind == 0:
        A, about = lattice(max(1, n // 7), 7, some_flux(rng)), "lattice"
    elif kind == 1:
        flux = some_flux(rng)
        A, about = flux_ring(max(2, n), flux), f"ring of flux {flux:.1e}"
    elif kind == 2:
        A, about = with_values(rng, 10.0 ** rng.choice([-8, -4, 0, 3], size=n)), "four eigenvalues"
    elif kind == 3:
        D = 10.0 ** rng.uniform(-6, 6, n) * phases(rng, n)
        A, about = spd(rng, n) * D[:, None] * D.conj()[None, :], "graded"
    else:
        A, about = spd(rng, n), "dominant"
    return system(rng, A, about)


@hermitian("linear")
def complex_gauged_system(rng, n):
    """A real system with exact phases, and perhaps others on its columns."""
    name = SYSTEMS[int(rng.integers(0, len(SYSTEMS)))]
    problem = FAMILIES[name][1](rng, n)
    turned = gauged(problem, quarter_turns(rng, len(problem.A)))
    turned.rhs = turned.rhs * quarter_turns(rng, turned.rhs.shape[1])
    turned.about = f"{name}: {problem.about}"
    return turned


@hermitian("linear")
def complex_rhs(rng, n):
    """Real matrices with complex right-hand sides: of two real ones, imaginary, or declared complex."""
    name = SYSTEMS[int(rng.integers(0, len(SYSTEMS) - 1))]
    problem = FAMILIES[name][1](rng, n)
    kind = int(rng.integers(0, 3))
    others = problem.rhs[:, ::-1] if kind == 0 else np.zeros_like(problem.rhs)
    rhs = [problem.rhs + 1j * others, 1j * problem.rhs, problem.rhs.astype(complex)][kind]
    return Problem(problem.A, rhs=rhs, about=f"{name}: {problem.about}, kind {kind}")


@hermitian("linear")
def complex_real_rhs(rng, n):
    """A complex matrix with real right-hand sides."""
    A = spd(rng, n) if rng.random() < 0.5 else with_phases(rng, grid(rng, n))
    return Problem(A, rhs=right_hand_sides(rng, A.real), about="real right-hand sides")


@hermitian("linear")
def complex_indefinite_system(rng, n):
    A = with_phases(rng, random_sparse_symmetric(rng, n, 4)) + rng.uniform(-1, 3) * np.eye(n)
    return system(rng, A, "indefinite or nearly so")
