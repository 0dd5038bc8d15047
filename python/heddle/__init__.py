"""Block eigensolvers and linear solvers for large sparse symmetric and Hermitian matrices.

`eigsh`, `lobpcg`, `svds`, `cg`, `lsqr` and `lsmr` have the names, arguments and values of `scipy.sparse.linalg`.
`solve` takes any problem of heddle and returns all about its solution."""

from importlib.metadata import version as _version

from ._core import State, has_cuda
from ._eigen import buckling, eigsh, eigsh_interval, lobpcg
from ._errors import (
    ConvergenceWarning,
    DeviceError,
    InputError,
    Interrupted,
    NotConverged,
    OutOfMemory,
)
from ._factorized import Factorized, factorized
from ._graphs import fiedler, spectral_embedding
from ._linear import cg, lstsq
from ._lsqr import lsmr, lsqr
from ._matrices import generate, read_matrix
from ._result import Result
from ._singular import svds
from ._solve import Choice, Extras, Plan, Problem, plan, solve
from ._spectrum import SpectralDensity, spectral_density

__version__ = _version("heddle-solvers")

__all__ = [
    "Choice",
    "ConvergenceWarning",
    "DeviceError",
    "Extras",
    "Factorized",
    "InputError",
    "Interrupted",
    "NotConverged",
    "OutOfMemory",
    "Plan",
    "Problem",
    "Result",
    "SpectralDensity",
    "State",
    "buckling",
    "cg",
    "eigsh",
    "eigsh_interval",
    "factorized",
    "fiedler",
    "generate",
    "has_cuda",
    "lobpcg",
    "lsmr",
    "lsqr",
    "lstsq",
    "plan",
    "read_matrix",
    "solve",
    "spectral_density",
    "spectral_embedding",
    "svds",
]
