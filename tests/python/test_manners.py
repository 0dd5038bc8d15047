"""Threads, signals, callbacks, failures, logging, reports and memory."""

import gc
import logging
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_laplacian

import heddle


def test_result_tells_all():
    result = heddle.solve(path_laplacian(2000), nev=3, which="largest", threads=2)
    assert result.converged and result.status == "converged" and "3 of 3" in result.reason
    assert result.device == "host" and result.method == "block_lanczos" and result.method_reason
    assert result.passed.all() and (result.residuals < 1e-8).all()
    truth = 4 * np.sin(np.pi * np.arange(2000, 1997, -1) / 4002) ** 2
    assert (abs(result.eigenvalues - truth) <= result.error_bounds + 1e-14).all()
    assert result.history["iteration"].tolist() == sorted(result.history["iteration"])
    assert result.history["operator_applications"][-1] <= result.operator_applications
    assert result.timings["solve"] > 0 and "spmm" in result.timings["phases"]
    assert result.peak_bytes_most >= result.peak_bytes > 0 and result.vectors.shape == (2000, 3)
    text, page = repr(result), result._repr_html_()
    assert text.startswith("converged: ") and "eigenvalue" in text and text.count("\n") == 5
    assert page.count("<tr>") == 4 and f"{result.eigenvalues[0]:.12g}"[:9] in page
    assert "pair" in page and "<b>converged</b>" in page


def test_a_result_shows_certain_digits_and_marks_others():
    ends = sp.diags_array(np.array([0, 1e9] + 298 * [0.0]))
    result = heddle.solve(path_laplacian(300) + ends, nev=3, which="smallest")
    rows = repr(result).splitlines()[3:]
    for row, value, bound in zip(rows, result.eigenvalues, result.error_bounds):
        shown = row.split()[0]
        assert abs(float(shown) - value) <= max(bound, 1e-6 * value) and ("~" in row) == (bound > 1e-6 * value)
        assert len(shown.replace(".", "").lstrip("0e-")) <= 13


def test_html_is_escaped():
    result = heddle.solve(path_laplacian(30), nev=1)
    result.reason = "a < b & c"
    assert "a &lt; b &amp; c" in result._repr_html_()


def test_problems_of_each_kind():
    A = path_laplacian(50) + 0.1 * sp.eye_array(50)
    rhs = np.ones((50, 2))
    assert heddle.solve(heddle.Problem(A, rhs=rhs)).method == "block_cg"
    triplets = heddle.solve(
        heddle.Problem(A[:, :20], normal_equations=True), nev=2, which="largest"
    )
    assert triplets.left_vectors.shape == (50, 2) and triplets.values is triplets.singular_values
    assert "singular value" in repr(triplets)
    least = heddle.solve(heddle.Problem(A[:, :20], rhs=rhs, normal_equations=True))
    assert least.residual_norms.shape == (2,)
    modes = heddle.solve(heddle.Problem(A, B=sp.eye_array(50)), nev=3)
    np.testing.assert_allclose(modes.frequencies, np.sqrt(modes.eigenvalues) / (2 * np.pi))
    constrained = heddle.solve(heddle.Problem(A, constraints=modes.vectors), nev=1)
    assert constrained.eigenvalues[0] > modes.eigenvalues[-1]
    guided = heddle.solve(heddle.Problem(A, initial_guess=modes.vectors), nev=3, method="lobpcg")
    np.testing.assert_allclose(guided.eigenvalues, modes.eigenvalues, rtol=1e-7)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"rhs": np.ones(3)}, "rhs has 3 rows where 50 are needed"),
        ({"constraints": np.ones((4, 1))}, "constraints has 4 rows"),
        ({"initial_guess": np.ones((4, 1))}, "initial_guess has 4 rows"),
        ({"B": np.eye(7)}, "B: the mass matrix has order 7"),
        ({"preconditioner": np.eye(7), "rhs": np.ones(50)}, "preconditioner: is 7 x 7"),
        ({"A_transposed": np.eye(7), "normal_equations": True}, "A_transposed"),
    ],
)
def test_bad_problems_are_named(problem, message):
    with pytest.raises(ValueError, match=message):
        heddle.solve(heddle.Problem(path_laplacian(50), **problem))


def test_failures_as_the_caller_wants_them():
    A = path_laplacian(3000)
    hopeless = {"maxiter": 1, "method": "lobpcg", "which": "SA", "preconditioner": "none"}
    with pytest.raises(heddle.NotConverged, match="max_iterations: ") as caught:
        heddle.eigsh(A, 2, **hopeless)
    assert caught.value.result.vectors.shape == (3000, 2)
    with pytest.warns(heddle.ConvergenceWarning, match="max_iterations: ") as warned:
        heddle.eigsh(A, 2, on_failure="warn", **hopeless)
    assert len(warned) == 1
    w, v, result = heddle.eigsh(A, 2, on_failure="return", return_stats=True, **hopeless)
    assert not result.converged and v.shape == (3000, 2) and result.iterations == 1
    assert heddle.solve(A, max_iterations=1, method="lobpcg").status == "max_iterations"
    assert heddle.solve(A, time_limit=1e-9, method="lobpcg").status == "time_limit"


def test_callbacks():
    A = path_laplacian(3000)
    states = []
    result = heddle.solve(A, nev=2, which="largest", callback=states.append)
    assert len(states) >= 2 and states[-1].nev == 2 and len(states[-1].eigenvalues) == 2
    assert states[0].seconds <= states[-1].seconds
    assert states[-1].operator_applications <= result.operator_applications
    stopped = heddle.solve(A, nev=2, method="lobpcg", callback=lambda state: False)
    assert stopped.status == "interrupted"
    with pytest.raises(ZeroDivisionError):
        heddle.solve(A, nev=2, callback=lambda state: 1 / 0)
    with pytest.raises(TypeError, match="callback is a int, not a function"):
        heddle.solve(A, callback=3)


def test_threads_give_equal_bits():
    A = heddle.generate("laplace2d", 60, 60)
    one, two = (heddle.solve(A, nev=4, threads=t) for t in (1, 2))
    assert np.array_equal(one.vectors, two.vectors)
    assert np.array_equal(one.eigenvalues, two.eigenvalues)


def test_solves_of_several_threads_run_beside_each_other():
    A = heddle.generate("laplace2d", 40, 40)
    reference = heddle.solve(A, nev=3, which="largest", threads=1).vectors
    found = [None] * 4

    def work(i):
        found[i] = heddle.solve(A, nev=3, which="largest", threads=1).vectors

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(vectors, reference) for vectors in found)


def test_the_interpreter_runs_while_a_solve_does():
    A = heddle.generate("laplace3d", 30, 30, 30)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    heddle.solve(A, nev=2, method="lobpcg", preconditioner="none", time_limit=0.4, tolerance=1e-14)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [t for t in ticks if start < t < end]
    assert len(inside) >= 10


INTERRUPTED = """
    import os, signal, sys, threading, time
    import heddle
    A = heddle.generate("laplace3d", 40, 40, 40)
    options = dict(nev=4, method="lobpcg", preconditioner="none", tolerance=1e-15)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    {body}
    assert time.perf_counter() - start < 20
    """


def run_script(body):
    script = textwrap.dedent(INTERRUPTED).format(body=textwrap.dedent(body).strip())
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ctrl_c_ends_a_solve_with_what_there_is():
    body = """
try:
    heddle.solve(A, **options)
except heddle.Interrupted as interrupted:
    result = interrupted.result
    print(result.status, result.vectors.shape, isinstance(interrupted, KeyboardInterrupt))
"""
    assert run_script(body) == "interrupted (64000, 4) True\n"
    body = "print(heddle.solve(A, on_failure='return', **options).status)"
    assert run_script(body) == "interrupted\n"


def test_ctrl_c_ends_a_spectral_density():
    body = """
try:
    heddle.spectral_density(A, vectors=4000)
except KeyboardInterrupt:
    print("ended")
"""
    assert run_script(body) == "ended\n"


def test_exceptions_of_other_signal_handlers_reach_the_caller():
    body = """
class Enough(Exception): pass
def handler(*_): raise Enough
signal.signal(signal.SIGINT, handler)
try:
    heddle.solve(A, **options)
except Enough:
    print("enough")
"""
    assert run_script(body) == "enough\n"


def test_logging(caplog):
    with caplog.at_level(logging.DEBUG, logger="heddle"):
        heddle.solve(path_laplacian(100), nev=2)
    assert "setting up" in caplog.messages
    assert caplog.messages[-1].startswith("converged: ")


def test_progress(capfd):
    pytest.importorskip("tqdm")
    heddle.solve(path_laplacian(3000), nev=2, which="largest", progress=True)
    assert "pair" in capfd.readouterr().err


def test_checkpoints(tmp_path):
    A = heddle.generate("laplace3d", 12, 12, 12)
    file = str(tmp_path / "state")
    options = {"nev": 4, "method": "lobpcg", "tolerance": 1e-10, "checkpoint": file}
    cut = heddle.solve(A, max_iterations=5, **options)
    assert cut.status == "max_iterations" and os.path.exists(file)
    resumed = heddle.solve(A, resume=True, **options)
    whole = heddle.solve(A, nev=4, method="lobpcg", tolerance=1e-10)
    assert np.array_equal(resumed.vectors, whole.vectors)
    with pytest.raises(heddle.InputError, match="nowhere"):
        heddle.solve(A, nev=4, method="lobpcg", checkpoint=str(tmp_path / "nowhere"), resume=True)


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_thousand_solves_leak_nothing():
    A = path_laplacian(300)
    b = np.ones((300, 8))
    operator = sla.aslinearoperator(A)
    references = sys.getrefcount(b)

    def one_round():
        heddle.cg(A, b, rtol=1e-3, threads=1)
        heddle.cg(operator, b, rtol=1e-1, maxiter=5, threads=1)
        heddle.eigsh(A, 2, which="LA", tol=1e-2, threads=1, callback=lambda state: None)
        with pytest.raises(ValueError, match="k is 301"):
            heddle.eigsh(A, 301, which="LA", threads=1)

    for _ in range(50):
        one_round()
    gc.collect()
    before, objects = peak_bytes(), len(gc.get_objects())
    for _ in range(334):
        one_round()
    gc.collect()
    assert peak_bytes() - before < 4e6  # a leak of one block per solve would be 19e6
    assert len(gc.get_objects()) - objects < 200
    assert sys.getrefcount(b) == references


def test_matrices_live_as_long_as_results_need_them():
    result = heddle.solve(path_laplacian(200), nev=2)
    vectors = result.vectors
    expected = vectors.copy()
    del result
    gc.collect()
    heddle.solve(path_laplacian(200), nev=2, which="largest")
    assert np.array_equal(vectors, expected)
    A = heddle.generate("laplace1d", 5)
    gc.collect()
    np.testing.assert_array_equal(A.diagonal(), np.full(5, 2.0))


def test_overhead_per_call():
    """Time per call beyond that of the library: below a millisecond."""
    A, b = path_laplacian(100), np.ones(100)
    overheads = []
    for _ in range(30):
        start = time.perf_counter()
        result = heddle.cg(A, b, threads=1, preconditioner="none", return_stats=True)[2]
        elapsed = time.perf_counter() - start
        overheads.append(elapsed - result.timings["setup"] - result.timings["solve"])
    assert min(overheads) < 1e-3


@pytest.mark.skipif(heddle.has_cuda, reason="this build has the GPU")
def test_missing_gpu_is_named():
    with pytest.raises(heddle.DeviceError, match="CUDA|cuda"):
        heddle.solve(path_laplacian(20), nev=1, device="cuda")


@pytest.mark.parametrize("devices", [2, np.int64(3)])
def test_missing_gpus_are_counted(devices):
    if heddle.has_cuda:
        pytest.skip("this build may have the GPUs")
    with pytest.raises(heddle.DeviceError, match=f"{devices} GPUs were asked for, 0 present"):
        heddle.solve(path_laplacian(20), nev=1, devices=devices)


def test_several_gpus_are_no_host():
    with pytest.raises(ValueError, match="devices: 2 GPUs were asked for with device: host"):
        heddle.eigsh(path_laplacian(20), 1, which="SA", device="host", devices=2)


@pytest.mark.parametrize(
    "devices, error", [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("both", TypeError)]
)
def test_a_number_of_gpus_is_positive_or_all(devices, error):
    with pytest.raises(error, match="devices is"):
        heddle.solve(path_laplacian(20), nev=1, devices=devices)


def test_all_devices_are_the_host_where_it_is_chosen():
    A = path_laplacian(40)
    alone = heddle.solve(A, nev=2, device="host")
    every = heddle.solve(A, nev=2, device="host", devices="all")
    assert every.device == "host"
    assert np.array_equal(every.vectors, alone.vectors)


def test_too_much_memory_is_refused():
    A = sp.eye_array(2_000_000, format="csr")
    with pytest.raises(MemoryError, match="memory"):
        heddle.solve(A, nev=1_000_000, method="lobpcg")
