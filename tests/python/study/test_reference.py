"""References against spectra in closed form, and counts that must refuse what they cannot prove."""

import json

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from heddle.study import inertia, operands, reference


def laplacian_2d(n, m):
    def line(k):
        return sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(k, k))

    return sp.csr_matrix(sp.kronsum(line(n), line(m)))


def values_2d(n, m):
    def line(k):
        return 4 * np.sin(np.pi * np.arange(1, k + 1) / (2 * (k + 1))) ** 2

    return np.sort(np.add.outer(line(n), line(m)).ravel())


def ask(folder, problem, which, nev, claims=(), dense=0, inertia_s=10.0, **question):
    asked = {"group": f"g-{which}", "which": which, "nev": nev, "claims": list(claims)} | question
    task = {
        "problem": problem, "questions": [asked], "folder": str(folder), "dense": dense,
        "inertia": 10**6, "inertia_s": inertia_s, "limits": [dense, 10**6, inertia_s],
    }  # fmt: skip
    path = folder / "task.json"
    path.write_text(json.dumps(task))
    assert reference.main([str(path)]) == 0
    return json.loads((folder / f"g-{which}.json").read_text())


def stored(folder, name, matrix):
    sp.save_npz(folder / f"{name}.npz", sp.csr_matrix(matrix))
    return str(folder / f"{name}.npz")


@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("dense", [0, 1000])
def test_square_with_double_eigenvalues(tmp_path, which, dense):
    truth = values_2d(20, 20)
    truth = truth[::-1] if which == "largest" else truth
    problem = {"matrix": stored(tmp_path, "A", laplacian_2d(20, 20))}
    claims = [[value, 1e-12] for value in truth[:8]]
    answer = ask(tmp_path, problem, which, 8, claims, dense)
    assert answer["method"] == ("dense LAPACK" if dense else "inertia")
    values, errors = np.array(answer["values"]), np.array(answer["uncertainty"])
    assert (abs(values - truth[: len(values)]) <= errors + 4e-15).all()
    assert errors.max() < 1e-8 and len(values) >= 8
    counts = [each["count"] for each in answer["intervals"] if each["high"] < 0.3]
    if which == "smallest" and not dense:
        assert counts[:3] == [1, 2, 1]


def test_counts_find_what_all_claims_missed(tmp_path):
    truth = values_2d(20, 20)  # the second one is double
    claims = [[value, 1e-12] for value in (truth[0], truth[1], truth[3], truth[4])]
    problem = {"matrix": stored(tmp_path, "A", laplacian_2d(20, 20))}
    answer = ask(tmp_path, problem, "smallest", 4, claims)
    values, errors = np.array(answer["values"]), np.array(answer["uncertainty"])
    assert (abs(values - truth[:4]) <= errors + 4e-15).all()
    assert abs(values[2] - truth[2]) < 1e-6, "the missed copy"
    answer = ask(tmp_path, problem, "smallest", 4, claims[1:])  # the first one is unclaimed
    low, high = answer["enclosures"][0]
    assert low <= truth[0] <= high and high - low < 1e-6
    answer = ask(tmp_path, problem, "smallest", 4, claims[1:], inertia_s=0.0)
    assert answer["method"] == "none" and "time" in answer["reason"]


def test_pencil_by_both_methods(tmp_path):
    n = 300
    A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    B = sp.diags([0.2, 0.6, 0.2], [-1, 0, 1], shape=(n, n))
    truth = scipy.linalg.eigh(A.toarray(), B.toarray(), eigvals_only=True)
    problem = {"matrix": stored(tmp_path, "A", A), "mass": stored(tmp_path, "B", B)}
    for dense in (0, 1000):
        claims = [[value, 1e-10] for value in truth[:5]]
        answer = ask(tmp_path, problem, "smallest", 5, claims, dense)
        errors = np.array(answer["uncertainty"])[:5]
        assert (abs(np.array(answer["values"])[:5] - truth[:5]) <= errors + 1e-11).all()
        assert errors.max() < 1e-7


def test_components_have_errors_of_their_own_size(tmp_path):
    small, large = laplacian_2d(5, 5), 1e12 * laplacian_2d(6, 6)
    matrix = sp.block_diag([large, small, sp.identity(3) * 7.0])
    shuffle = np.random.default_rng(1).permutation(matrix.shape[0])
    matrix = sp.csr_matrix(matrix)[shuffle][:, shuffle]
    answer = ask(tmp_path, {"matrix": stored(tmp_path, "A", matrix)}, "smallest", 29, dense=100)
    truth = np.sort(np.concatenate([values_2d(5, 5), [7.0] * 3, 1e12 * values_2d(6, 6)]))
    values, errors = np.array(answer["values"]), np.array(answer["uncertainty"])
    assert (abs(values - truth[: len(values)]) <= errors + 1e-14 * abs(values)).all()
    assert errors[:28].max() < 1e-12 < errors[28]


def test_singular_mass_has_finite_eigenvalues_only(tmp_path):
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    B = np.diag([1.0, 1.0, 0.5, 0.0])
    problem = {"matrix": stored(tmp_path, "A", A), "mass": stored(tmp_path, "B", B)}
    answer = ask(tmp_path, problem, "smallest", 4, dense=100)
    assert np.allclose(answer["values"], [1, 2, 6], rtol=1e-9)
    rotation, _ = np.linalg.qr(np.arange(16.0).reshape(4, 4) ** 2 % 7 + np.eye(4))
    problem["matrix"] = stored(tmp_path, "A", rotation @ A @ rotation.T)
    problem["mass"] = stored(tmp_path, "B", rotation @ B @ rotation.T)
    answer = ask(tmp_path, problem, "smallest", 4, dense=100)
    assert np.allclose(answer["values"], [1, 2, 6], rtol=1e-9)


@pytest.mark.parametrize("dense", [0, 100])
def test_intervals(tmp_path, dense):
    problem = {"matrix": stored(tmp_path, "A", np.diag(np.arange(1.0, 9.0)))}
    answer = ask(tmp_path, problem, "interval", 9, [[3.0, 1e-9]], dense, interval=[2.5, 5.5])
    assert np.allclose(answer["values"], [3, 4, 5], rtol=1e-6)
    answer = ask(tmp_path, problem, "interval", 9, [], dense, interval=["-inf", 2.5])
    assert np.allclose(answer["values"], [1, 2], rtol=1e-6)
    assert ask(tmp_path, problem, "interval", 9, [], dense, interval=[2.1, 2.2])["values"] == []


def test_a_matrix_that_is_not_symmetric_has_no_reference(tmp_path):
    problem = {"matrix": stored(tmp_path, "A", [[1.0, 2.0], [0.0, 1.0]])}
    answer = ask(tmp_path, problem, "smallest", 1, dense=10)
    assert answer["method"] == "none" and "not symmetric" in answer["reason"]


def test_counts_are_right_or_refused(monkeypatch):
    rng = np.random.default_rng(5)
    A = sp.random(120, 120, 0.05, random_state=rng)
    A = sp.csr_matrix(A + A.T + sp.diags(rng.uniform(-3, 3, 120)))
    truth = np.linalg.eigvalsh(A.toarray())
    for shift in rng.uniform(-3, 3, 8):
        count = inertia.count_below(A, None, shift)
        assert (
            np.sum(truth < shift - count.error)
            <= count.below
            <= np.sum(truth < shift + count.error)
        )
    assert inertia.dense_inertia(np.array([[0.0, 1.0], [1.0, 0.0]]))[0] == 1
    monkeypatch.setattr(inertia, "DENSE_LIMIT", 0)
    swap = sp.csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(inertia.Refused):  # no pivot on the diagonal
        inertia.count_below(swap, None, 0.0)


def test_error_covers_the_growth_of_small_pivots():
    """A tiny pivot makes the factors large: the error must say so."""
    A = sp.csc_matrix(np.array([[1e-14, 1.0], [1.0, 1.0]]))
    below, error = inertia.sparse_inertia(A)
    assert error > 1e-3 or below == 1


def test_laplacians_are_those_of_scipy():
    rng = np.random.default_rng(3)
    W = abs(sp.random(40, 40, 0.1, random_state=rng))
    W = sp.csr_matrix(W.maximum(W.T))
    for normalized in (False, True):
        ours = operands.laplacian(W, unit=False, symmetrize=False, normalized=normalized)
        theirs = sp.csgraph.laplacian(W, normed=normalized)
        assert abs(ours - theirs).max() < 1e-14
    unit = operands.laplacian(sp.triu(W), unit=True, symmetrize=True, normalized=False)
    off = sp.csr_matrix((W - sp.diags(W.diagonal())) != 0).astype(float)
    assert abs(unit - sp.csgraph.laplacian(off)).max() == 0


def test_files_of_all_formats(tmp_path):
    import gzip

    A = sp.csr_matrix(np.array([[2.0, 1.0], [1.0, 3.0]]))
    text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 3\n"
    (tmp_path / "a.mtx").write_text(text)
    (tmp_path / "b.mtx.gz").write_bytes(gzip.compress(text.encode()))
    np.save(tmp_path / "c.npy", A.toarray())
    sp.save_npz(tmp_path / "d.npz", A)
    (tmp_path / "e.txt").write_text("# list\n3 3 2\n3 8 1\n8 3 1\n8 8 3\n")
    for path in sorted(tmp_path.iterdir()):
        assert abs(operands.read(str(path)) - A).max() == 0, path
