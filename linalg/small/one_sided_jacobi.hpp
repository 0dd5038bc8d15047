#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <vector>

namespace heddle {

/// The eigenpairs of G Gᵀ for a square G in host memory, by one-sided Jacobi rotations of its
/// columns: G ← Y with YᵀY = I and G Gᵀ = Y diag(θ) Yᵀ. Returns θ in descending order. A θ of 0 has
/// a column of zeros. Empty if G is not finite.
///
/// For G = X D with a diagonal D and a well conditioned X, each θ has small relative errors,
/// however small it is relative to the largest one. Methods that reduce G Gᵀ to tridiagonal form
/// have errors of ε θ_max. Source: Demmel & Veselić, SIAM J. Matrix Anal. Appl. 13 (1992) 1204.
std::vector<double> one_sided_jacobi(SmallView<double, HostSpace> G);

/// B ← M with B = M Mᵀ for a symmetric positive semidefinite B in host memory, by a Cholesky
/// factorisation with diagonal pivoting. A pivot that is rounding noise relative to its diagonal
/// entry of B counts as 0. False if B is not finite or has a negative pivot.
bool factor_semidefinite(SmallView<double, HostSpace> B);

}  // namespace heddle
