#pragma once

#include <heddle/drivers/problem/request.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/lanczos/slices/sliced_eigenpairs.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>

/// The options of each method that a request stands for. Its method has been chosen.
namespace heddle::detail {

EigenOptions eigen_options(const Request& request);
CertifyOptions certify_options(const Request& request);
LobpcgOptions lobpcg_options(const Request& request);
/// `inner_solves`: whether products with B⁻¹ are iterative solves, compared with which a filter
/// does not pay unless it was asked for.
BlockLanczosOptions block_lanczos_options(const Request& request, bool inner_solves = false);
IntervalOptions interval_options(const Request& request);
/// Those of slices of a problem of order n. nev is n where the request leaves it open.
IntervalOptions sliced_options(const Request& request, Index n);
/// `buckling`: whether load factors are wanted.
NearestOptions nearest_options(const Request& request, bool buckling);
SingularOptions singular_options(const Request& request);
BlockCgOptions block_cg_options(const Request& request);
LeastSquaresOptions least_squares_options(const Request& request);

}  // namespace heddle::detail
