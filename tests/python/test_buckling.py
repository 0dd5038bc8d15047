"""Load factors of buckling, and the modes of eigsh, against closed forms, dense LAPACK and SciPy."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import heddle


def assembled(element, elements):
    total = np.zeros((2 * elements + 2, 2 * elements + 2))
    for e in range(elements):
        total[2 * e : 2 * e + 4, 2 * e : 2 * e + 4] += element
    return total


def beam(elements):
    """Integrals of w''w'', w'w', w w and w w' of Hermite cubics on a line of length 1, whose unknowns are
    a deflection and a slope per node."""
    h = 1 / elements
    bending = np.array(
        [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
         [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]
    ) / h**3
    slopes = np.array(
        [[36, 3 * h, -36, 3 * h], [3 * h, 4 * h**2, -3 * h, -(h**2)],
         [-36, -3 * h, 36, -3 * h], [3 * h, -(h**2), -3 * h, 4 * h**2]]
    ) / (30 * h)
    mass = np.array(
        [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
         [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]
    ) * h / 420
    mixed = np.array(
        [[-30, 6 * h, 30, -6 * h], [-6 * h, 0, 6 * h, -(h**2)],
         [-30, -6 * h, 30, 6 * h], [6 * h, h**2, -6 * h, 0]]
    ) / 60
    return [assembled(each, elements) for each in (bending, slopes, mass, mixed)]


def test_the_integrals_are_those_of_cubics():
    bending, slopes, mass, mixed = beam(3)
    x = np.linspace(0, 1, 4)
    w = np.column_stack([x**3, 3 * x**2]).ravel()  # w = x^3
    v = np.column_stack([x**2, 2 * x]).ravel()
    np.testing.assert_allclose(w @ bending @ w, 12)
    np.testing.assert_allclose(w @ slopes @ w, 9 / 5)
    np.testing.assert_allclose(w @ mass @ w, 1 / 7)
    np.testing.assert_allclose([w @ mixed.T @ v, w @ mixed @ v], [3 / 5, 2 / 5])


def held(matrices, unknowns):
    kept = np.setdiff1d(np.arange(matrices[0].shape[0]), unknowns)
    return [sp.csr_array(each[np.ix_(kept, kept)]) for each in matrices]


SUPPORTS = {"pinned": [0, -2], "cantilever": [0, 1], "clamped": [0, 1, -2, -1]}
# Of the continuous column, the first three load factors.
EULER = {
    "pinned": np.array([1, 4, 9]) * np.pi**2,
    "cantilever": np.array([1, 9, 25]) * np.pi**2 / 4,
    "clamped": np.array([4 * np.pi**2, 4 * 4.493409457909064**2, 16 * np.pi**2]),
}


def column(support, elements):
    bending, slopes, _, _ = beam(elements)
    unknowns = np.array(SUPPORTS[support]) % len(bending)
    K, S = held([bending, slopes], unknowns)
    return K, -S


@pytest.mark.parametrize("support", SUPPORTS)
def test_columns_approach_euler_with_the_fourth_order(support):
    errors = []
    for elements in (10, 20, 40):
        K, KG = column(support, elements)
        w, v, result = heddle.buckling(K, KG, 3, return_stats=True)
        dense = scipy.linalg.eigh(K.toarray(), -KG.toarray(), eigvals_only=True)
        np.testing.assert_allclose(w, dense[:3], rtol=1e-9)
        np.testing.assert_allclose(v.T @ (K @ v), np.eye(3), atol=1e-9)
        assert result.completeness.proven
        assert result.frequencies.size == 0
        errors.append(w / EULER[support] - 1)
    errors = np.array(errors)
    assert (errors > 0).all()
    order = np.log2(errors[:-1] / errors[1:])
    np.testing.assert_allclose(order, 4, atol=0.15)


def plate(elements, load):
    """A square plate of side 1 and bending stiffness 1, simply supported, by products of Hermite
    cubics, under compression in x or shear."""
    (bending, slopes, mass, mixed), n = beam(elements), 2 * elements + 2
    bending, slopes, mass, mixed = held([bending, slopes, mass, mixed], np.array([0, n - 2]))
    K = sp.kron(bending, mass) + 2 * sp.kron(slopes, slopes) + sp.kron(mass, bending)
    if load == "compression":
        return K.tocsr(), -sp.kron(slopes, mass).tocsr()
    return K.tocsr(), -(sp.kron(mixed.T, mixed) + sp.kron(mixed, mixed.T)).tocsr()


def test_a_plate_under_compression_has_the_load_factors_of_navier():
    K, KG = plate(8, "compression")
    w, result = heddle.buckling(K, KG, 4, return_eigenvectors=False, return_stats=True)
    # (m^2 + n^2)^2 pi^2/m^2 for m half waves along the load and n across
    exact = sorted((m * m + n * n) ** 2 / (m * m) for m in range(1, 9) for n in range(1, 9))
    np.testing.assert_allclose(w, np.array(exact[:4]) * np.pi**2, rtol=5e-3)
    assert (w > np.array(exact[:4]) * np.pi**2).all()
    assert result.completeness.proven


def test_shear_buckles_a_plate_in_both_directions_alike():
    K, KG = plate(8, "shear")
    positive = heddle.buckling(K, KG, 3, return_eigenvectors=False)
    np.testing.assert_allclose(positive[0], 9.325 * np.pi**2, rtol=2e-3)  # Timoshenko & Gere, 9.7
    w, v, result = heddle.buckling(K, KG, 6, both_signs=True, return_stats=True)
    np.testing.assert_allclose(np.sort(w)[3:], positive, rtol=1e-9)
    np.testing.assert_allclose(np.sort(w)[:3], -positive[::-1], rtol=1e-9)
    assert (np.diff(abs(w)) >= -1e-9 * abs(w[1:])).all()
    residuals = np.linalg.norm(K @ v + KG @ v * w, axis=0) / np.linalg.norm(K @ v, axis=0)
    assert residuals.max() < 1e-7
    assert result.completeness.proven


def random_pencil(n, seed):
    """A sparse positive definite K and an indefinite KG, with all load factors."""
    rng = np.random.default_rng(seed)
    K = sp.random_array((n, n), density=0.02, rng=rng)
    K = (K @ K.T + sp.diags_array(rng.uniform(0.5, 5, n))).tocsr()
    KG = sp.random_array((n, n), density=0.02, rng=rng, data_sampler=rng.standard_normal)
    KG = (KG + KG.T + sp.diags_array(rng.standard_normal(n))).tocsr()
    nu = scipy.linalg.eigh(-KG.toarray(), K.toarray(), eigvals_only=True)
    return K, KG, np.sort(1 / nu)


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("seed", range(3))
def test_load_factors_of_random_pencils(n, seed):
    K, KG, truth = random_pencil(n, seed)
    by_size = truth[np.argsort(abs(truth))]
    w, v = heddle.buckling(K, KG, 5)
    np.testing.assert_allclose(w, by_size[by_size > 0][:5], rtol=1e-9)
    np.testing.assert_allclose(v.T @ (K @ v), np.eye(5), atol=1e-10)
    w, _ = heddle.buckling(K, KG, 7, both_signs=True)
    np.testing.assert_allclose(w, by_size[:7], rtol=1e-9)
    sigma = 1.3 * by_size[by_size > 0][4]
    w, _ = heddle.buckling(K, KG, 4, sigma=sigma)
    nearest = truth[np.argsort(abs(truth - sigma))[:4]]
    np.testing.assert_allclose(np.sort(w), np.sort(nearest), rtol=1e-9)
    result = heddle.solve(heddle.Problem(K, geometric_stiffness=KG), nev=3, side="below")
    np.testing.assert_allclose(result.eigenvalues, by_size[by_size < 0][:3], rtol=1e-9)
    assert result.method == "nearest"


def transformed(w, sigma, mode):
    numerator = {"normal": 1, "buckling": w, "cayley": w + sigma}[mode]
    return numerator / (w - sigma)


def chosen(truth, k, sigma, mode, which):
    """The k values that `which` means, by its definition."""
    other = transformed(truth, sigma, mode)
    order = np.argsort(other)
    if which == "BE":
        return np.sort(np.concatenate([truth[order[: k // 2]], truth[order[len(order) - (k - k // 2) :]]]))
    keys = {"LM": -abs(other), "SM": abs(other), "LA": -other, "SA": other}
    return np.sort(truth[np.argsort(keys[which], kind="stable")[:k]])


@pytest.mark.parametrize("mode", ["normal", "buckling", "cayley"])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
@pytest.mark.parametrize("n", [60, 320])
def test_modes_and_which_mean_what_scipy_says(n, mode, which):
    K, KG, truth = random_pencil(n, 11)
    A, M = (K, KG) if mode == "buckling" else (KG, K)
    truth = -truth if mode == "buckling" else np.sort(-1 / truth)  # without the minus sign
    for sigma in (0.55 * truth[n // 2] + 0.45 * truth[n // 2 + 1], 3 * abs(truth).min(), -0.7):
        w, v = heddle.eigsh(A, 4, M=M, sigma=sigma, mode=mode, which=which)
        expected = chosen(truth, 4, sigma, mode, which)
        np.testing.assert_allclose(w, expected, rtol=1e-8, atol=1e-12 * abs(truth).min())
        inner = K  # the definite matrix of either mode
        np.testing.assert_allclose(v.T @ (inner @ v), np.eye(4), atol=1e-8)
        scale = abs(A).sum(axis=0).max() + abs(w) * abs(M).sum(axis=0).max()
        assert (np.linalg.norm(A @ v - M @ v * w, axis=0) < 1e-10 * scale * np.linalg.norm(v, axis=0)).all()


@pytest.mark.parametrize("mode", ["normal", "buckling", "cayley"])
@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
def test_values_are_those_of_scipy(mode, which):
    K, KG, truth = random_pencil(120, 5)
    A, M = (K, KG) if mode == "buckling" else (KG, K)
    sigma = 0.8
    w, _ = heddle.eigsh(A, 6, M=M, sigma=sigma, mode=mode, which=which)
    theirs = sla.eigsh(A, 6, M=M, sigma=sigma, mode=mode, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.sort(theirs), rtol=1e-8)


def test_too_few_values_of_a_sign_are_filled_from_the_other_end():
    """As for ARPACK, which takes the k largest w'."""
    values = np.r_[-np.arange(1.0, 299), 5, 6]
    A = sp.diags_array(values).tocsr()
    w = heddle.eigsh(A, 4, sigma=0.5, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, chosen(np.sort(values), 4, 0.5, "normal", "LA"), rtol=1e-10)


def test_a_semidefinite_stiffness_goes_with_the_mode_buckling():
    n = 300
    K = heddle.generate("laplace1d", n).tolil()
    K[0, 0] = K[n - 1, n - 1] = 1  # free at both ends
    K = K.tocsr()
    KG = sp.diags_array(np.linspace(1, 2, n)).tocsr()
    w, _ = heddle.eigsh(K, 3, M=KG, sigma=-0.01, mode="buckling", which="LM")
    values = scipy.linalg.eigh(K.toarray(), KG.toarray(), eigvals_only=True)
    expected = chosen(values[1:], 3, -0.01, "buckling", "LM")
    np.testing.assert_allclose(w, expected, rtol=1e-8)


def test_fewer_load_factors_than_wanted():
    K = heddle.generate("laplace1d", 300)
    signs = np.zeros(300)
    signs[[10, 20]] = -1
    w, v, result = heddle.buckling(K, sp.diags_array(signs).tocsr(), 5, return_stats=True)
    assert w.shape == (2,)
    assert "2 finite eigenvalues lie on this side of sigma, 5 were wanted" in result.reason
    w, v = heddle.buckling(K, sp.diags_array(-signs).tocsr(), 5)
    assert w.size == 0


@pytest.mark.parametrize(
    ("K", "KG", "arguments", "message"),
    [
        (np.eye(4), np.eye(5), {}, "KG"),
        (np.eye(4), np.zeros((4, 4)), {}, "KG: the geometric stiffness is zero"),
        (np.eye(4), np.triu(np.ones((4, 4))), {}, "KG: the matrix is not symmetric"),
        (np.eye(4), np.eye(4), {"k": 5}, "k is 5, but the matrix has order 4"),
        (np.eye(4), np.eye(4), {"k": 0}, "k is 0, not 1 or more"),
        (np.eye(4), np.eye(4), {"k": 2, "method": "lobpcg"}, "lobpcg does not go with geometric_stiffness"),
    ],
)
def test_what_is_refused(K, KG, arguments, message):
    with pytest.raises(ValueError, match=message):
        heddle.buckling(K, KG, **arguments)


def test_a_structure_that_moves_freely_is_refused():
    K = sp.diags_array(np.r_[np.zeros(1), np.ones(299)]).tocsr()
    with pytest.raises(heddle.NotConverged, match="supports hold the structure") as caught:
        heddle.buckling(K, -sp.eye_array(300).tocsr(), 2)
    assert caught.value.result.status == "indefinite"
