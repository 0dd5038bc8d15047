"""Options that reach the library: which there are, their values, and which method reads them."""

import numpy as np
import pytest
from conftest import path_laplacian

import heddle
from heddle import _core
from heddle._solve import Extras

OWN_ARGUMENTS = {"nev", "which", "interval", "sigma", "side", "tolerance", "max_iterations", "damp"}


def test_every_option_of_the_library_is_one_of_the_package():
    assert set(_core.request_keywords()) - OWN_ARGUMENTS <= set(Extras.__annotations__)


@pytest.mark.parametrize(
    ("problem", "options", "message"),
    [
        ({}, {"method": "lobpcg", "max_basis": 9}, "max_basis belongs to block_lanczos"),
        ({}, {"method": "lobpcg", "interval": (0, 1)}, "interval belongs to block_lanczos"),
        ({}, {"method": "block_lanczos", "refresh_interval": 9}, "refresh_interval belongs to lob"),
        ({}, {"method": "lobpcg", "preconditioner": {"type": "jacobi", "degree": 3}},
         "preconditioner.degree does not go with preconditioner.type: jacobi"),
        ({}, {"which": "largest", "filter": "inverse"}, "filter: inverse is for the smallest end"),
        ({}, {"criterion": "absolute"}, "criterion: absolute needs a tolerance"),
        ({}, {"damp": 1.0}, "damp belongs to block_cg"),
        ({"rhs": np.ones(30)}, {"nev": 3}, "nev belongs to lobpcg and block_lanczos"),
        ({"normal_equations": True}, {"filter": "none"}, "filter does not go with normal_equations"),
        ({"normal_equations": True, "initial_guess": np.ones((30, 1))}, {},
         "initial_guess: does not go with normal_equations"),
    ],
)  # fmt: skip
def test_what_the_method_does_not_read_is_refused(problem, options, message):
    with pytest.raises(ValueError, match=message):
        heddle.solve(heddle.Problem(path_laplacian(30), **problem), **options)


def test_what_tunes_another_method_has_no_effect_where_none_is_named():
    tuned = heddle.solve(path_laplacian(30), nev=2, algorithm="pseudo_block", refresh_interval=9)
    assert tuned.converged


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nev": 0}, "nev is 0, not auto or an integer of at least 1"),
        ({"nev": 2.5}, "nev is 2.5, not auto or an integer of at least 1"),
        ({"nev": True}, "nev is true, not auto or an integer"),
        ({"block_size": "wide"}, "block_size is 'wide', not auto or an integer of at least 1"),
        ({"time_limit": "long"}, "time_limit is 'long', not none or a number above 0"),
        ({"time_limit": -1}, "time_limit is -1, not none or a number above 0"),
        ({"tolerance": {}}, "tolerance is {}, not auto or a number"),
        ({"interval": (2, 1)}, r"interval is \[2, 1\], not a list of two numbers"),
        ({"interval": (2, 1, 3)}, r"interval is \[2, 1, 3\], not a list of two numbers"),
        ({"kernel": 3}, "kernel is 3, not one of 'auto'"),
        ({"preconditioner": {"degree": 2.5}}, "preconditioner.degree is 2.5, not an integer"),
        ({"preconditioner": {"type": 3}}, "preconditioner.type is 3, not one of 'auto', 'none'"),
        ({"resume": "yes"}, "resume is 'yes', not one of 'true', 'false'"),
    ],
)
def test_values_of_another_kind_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        heddle.solve(path_laplacian(30), **options)


def test_numbers_and_words_in_the_types_of_numpy_and_of_configurations():
    A = path_laplacian(60)
    exact = heddle.solve(A, nev=3).eigenvalues
    for options in (
        {"nev": np.int32(3), "tolerance": np.float32(1e-6)},
        {"nev": np.array(3), "block_size": "auto", "max_basis": "auto", "time_limit": "none"},
        {"nev": 3, "seed": 2**64 - 1, "time_limit": 100},
    ):
        np.testing.assert_allclose(heddle.solve(A, **options).eigenvalues, exact, rtol=1e-6)
    inside = heddle.solve(A, nev=3, interval=np.array([0.0, exact[1]])).eigenvalues
    np.testing.assert_allclose(inside, exact[:2], rtol=1e-8)
