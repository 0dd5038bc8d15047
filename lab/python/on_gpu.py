"""CuPy as the library beside heddle in compare.py, with all arrays on a GPU."""

import cupy
import cupyx.scipy.sparse
import cupyx.scipy.sparse.linalg
import numpy as np
from tasks import TASKS, Beside

import heddle

REAL = ["bcsstk17", "Dubcova1", "Trefethen_20000"]
GENERATED = {
    "laplace3d 80x80x80": ("laplace3d", 80, 80, 80),
    "wathen 200x200": ("wathen", 200, 200),
}
BESIDE = Beside(
    "cupy",
    cupy,
    cupyx.scipy.sparse,
    cupyx.scipy.sparse.linalg,
    synchronize=cupy.cuda.runtime.deviceSynchronize,
)


def on_device(A):
    """A on the GPU, where CuPy knows offsets of 32 bits only."""
    parts = (A.data, A.indices, A.indptr.astype(np.int32))
    return BESIDE.sparse.csr_matrix(tuple(map(cupy.asarray, parts)), shape=A.shape)


def warm_up():
    """Runs all tasks once, so that CuPy has compiled its kernels."""
    A = on_device(heddle.generate("laplace2d", 30, 30))
    for task, solvers in TASKS.items():
        for name, solve in solvers(BESIDE, A).items():
            try:
                solve()()
            except Exception as error:  # a cell of the table will tell it
                print(f"warming up, {task}, {name}: {type(error).__name__}: {error}")
