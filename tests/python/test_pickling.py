"""Exceptions and results in other processes, in pickles and in copies."""

import concurrent.futures
import copy
import dataclasses
import importlib
import inspect
import multiprocessing
import pickle
import pkgutil

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_laplacian

import heddle

SECONDS = 120  # after which a pool that hangs fails the test
WAYS = [
    pytest.param(lambda x: pickle.loads(pickle.dumps(x)), id="pickle"),
    pytest.param(lambda x: pickle.loads(pickle.dumps(x, protocol=2)), id="protocol 2"),
    pytest.param(copy.copy, id="copy"),
    pytest.param(copy.deepcopy, id="deepcopy"),
]


def fail(order):
    """A solve that does not converge."""
    A = path_laplacian(order)
    return heddle.eigsh(A, 3, which="SA", maxiter=1, method="lobpcg", preconditioner="none", threads=1)


def succeed(order):
    return heddle.solve(path_laplacian(order), nev=3, threads=1)


def interrupt(order):
    raise heddle.Interrupted("stopped by hand", succeed(order))


def estimate(order):
    return heddle.spectral_density(path_laplacian(order), vectors=4, threads=1)


def failure(order=300):
    with pytest.raises(heddle.NotConverged) as caught:
        fail(order)
    return caught.value


def same_fields(one, other):
    """Compares all fields of two dataclasses, arrays by their bits."""
    assert type(one) is type(other)
    for each in dataclasses.fields(one):
        a, b = getattr(one, each.name), getattr(other, each.name)
        assert type(a) is type(b), each.name
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, err_msg=each.name)
        else:
            assert a == b, each.name


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [heddle.NotConverged, heddle.Interrupted])
def test_exceptions_with_a_result(kind, way):
    error = kind("5 of 7 pairs", succeed(60))
    error.note = "of the caller"
    again = way(error)
    assert type(again) is kind and str(again) == "5 of 7 pairs" and again.args == error.args
    assert again.note == "of the caller"
    same_fields(again.result, error.result)


@pytest.mark.parametrize("way", WAYS)
def test_exception_of_a_solve(way):
    error = failure()
    again = way(error)
    assert str(again) == str(error) and str(again).startswith("max_iterations: ")
    same_fields(again.result, error.result)


def exceptions():
    """All exceptions that the modules of the package define."""
    found = set()
    for module in pkgutil.walk_packages(heddle.__path__, "heddle."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # of what an extra installs
            continue
        for _, value in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(value, BaseException) and value.__module__.startswith("heddle."):
                found.add(value)
    return sorted(found, key=lambda each: (each.__module__, each.__qualname__))


def made(kind):
    """An exception with all that its constructor takes."""
    names = list(inspect.signature(kind.__init__).parameters)[1:]
    known = {"field": "k", "message": " is 0", "result": succeed(20), "exit_code": 7}
    return kind(*(known[name] for name in names if name in known) if "message" in names else ["text"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__qualname__)
def test_every_exception(kind, way):
    error = made(kind)
    again = way(error)
    assert type(again) is kind and str(again) == str(error)
    assert again.__dict__.keys() == error.__dict__.keys()
    for name, value in error.__dict__.items():
        if isinstance(value, heddle.Result):
            same_fields(getattr(again, name), value)
        else:
            assert getattr(again, name) == value


def test_every_exception_is_found():
    public = {each for each in vars(heddle).values() if inspect.isclass(each)}
    assert {each for each in public if issubclass(each, BaseException)} <= set(exceptions())
    assert len(exceptions()) > 10


@pytest.mark.parametrize("way", WAYS)
def test_results_and_plans(way):
    A = path_laplacian(80)
    rhs = np.ones((80, 2))
    for problem in (
        heddle.Problem(A),
        heddle.Problem(A, rhs=rhs),
        heddle.Problem(A[:, :30], normal_equations=True),
    ):
        options = {} if problem.rhs is not None else {"nev": 2}
        result = heddle.solve(problem, **options)
        same_fields(way(result), result)
        assert repr(way(result)) == repr(result)
        made = heddle.plan(problem, **options)
        same_fields(way(made), made)
    assert (way(heddle.Problem(A)).A != A).nnz == 0


@pytest.mark.parametrize("way", WAYS)
def test_states(way):
    states = []
    heddle.eigsh(path_laplacian(300), 2, which="SA", method="lobpcg", callback=states.append)
    again = way(states[-1])
    names = [name for name in dir(states[-1]) if not name.startswith("_")]
    assert len(names) >= 9
    for name in names:
        assert getattr(again, name) == getattr(states[-1], name)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array.toarray])
def test_spectral_densities(way, kind):
    A = kind(path_laplacian(400).tocsc())
    density = heddle.spectral_density(A, vectors=8, seed=5, threads=1)
    again = way(density)
    assert again.order == density.order == 400
    assert again.bounds == density.bounds and again.resolution == density.resolution
    assert repr(again) == repr(density)
    assert again.count(0.3, 1.7) == density.count(0.3, 1.7)
    np.testing.assert_array_equal(again.histogram(13)[0], density.histogram(13)[0])


def test_spectral_density_of_an_operator():
    density = heddle.spectral_density(sla.aslinearoperator(path_laplacian(50)), vectors=4)
    again = pickle.loads(pickle.dumps(density))
    assert again.count(0, 1) == density.count(0, 1)


def test_spectral_density_of_a_matrix_that_has_changed():
    A = path_laplacian(50)
    density = heddle.spectral_density(A, vectors=4)
    before = density.count(0, 1)
    A.data *= 3
    again = pickle.loads(pickle.dumps(density))
    assert density.count(0, 1) == before and again.bounds == density.bounds
    with pytest.raises(ValueError, match="A was changed"):
        again.count(0, 1)


def outcome(call):
    """What a call returns or raises."""
    try:
        return call()
    except BaseException as error:
        return error


def run_in_pool(function, inputs):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        tasks = [pool.apply_async(function, (each,)) for each in inputs]
        return [outcome(lambda task=task: task.get(timeout=SECONDS)) for task in tasks]


def run_in_executor(function, inputs):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        tasks = [executor.submit(function, each) for each in inputs]
        return [outcome(lambda task=task: task.result(timeout=SECONDS)) for task in tasks]


def run_in_joblib(function, inputs):
    joblib = pytest.importorskip("joblib")

    def run(each):
        # One task in one process would run in the caller's.
        tasks = [joblib.delayed(function)(each)] * 2
        return joblib.Parallel(n_jobs=2, timeout=SECONDS)(tasks)[0]

    return [outcome(lambda each=each: run(each)) for each in inputs]


@pytest.fixture(params=[run_in_pool, run_in_executor, run_in_joblib])
def elsewhere(request):
    return request.param


def throw(error):
    raise error


def echo(found):
    return found


def same(one, other):
    """Compares two exceptions or dataclasses."""
    if not isinstance(one, BaseException):
        return same_fields(one, other)
    assert type(one) is type(other) and str(one) == str(other)
    own = {name for name in one.__dict__ if not name.startswith("_")}
    assert own <= other.__dict__.keys()  # executors add notes
    for name in own:
        if isinstance(getattr(one, name), heddle.Result):
            same_fields(getattr(one, name), getattr(other, name))
        else:
            assert getattr(one, name) == getattr(other, name)


def test_failures_of_other_processes(elsewhere):
    (error,) = elsewhere(fail, [300])
    assert type(error) is heddle.NotConverged and str(error).startswith("max_iterations: ")
    here = failure().result
    assert error.result.iterations == here.iterations == 1
    np.testing.assert_array_equal(error.result.vectors, here.vectors)


def test_every_exception_of_other_processes(elsewhere):
    """A Pool does not return a KeyboardInterrupt that a worker raises."""
    errors = [made(kind) for kind in exceptions() if elsewhere is not run_in_pool or issubclass(kind, Exception)]
    assert len(errors) >= 10
    for error, found in zip(errors, elsewhere(throw, errors)):
        same(error, found)


def test_values_of_other_processes(elsewhere):
    """Exceptions that a worker returns come back from a Pool, too, Interrupted as well."""
    A = path_laplacian(60)
    values = [made(kind) for kind in exceptions()]
    values += [succeed(60), heddle.plan(A, nev=2), *heddle.plan(A, nev=2).choices]
    for value, found in zip(values, elsewhere(echo, values)):
        same(value, found)


def test_results_of_other_processes(elsewhere):
    (found,), here = elsewhere(succeed, [300]), succeed(300)
    assert found.status == "converged" and found.reason == here.reason
    np.testing.assert_array_equal(found.eigenvalues, here.eigenvalues)
    (density,) = elsewhere(estimate, [60])
    assert density.count(0, 1) == estimate(60).count(0, 1)


@pytest.mark.parametrize("run", [run_in_executor, run_in_joblib])
def test_interrupted_in_another_process(run):
    (error,) = run(interrupt, [60])
    assert type(error) is heddle.Interrupted and str(error) == "stopped by hand"
    np.testing.assert_array_equal(error.result.eigenvalues, succeed(60).eigenvalues)
