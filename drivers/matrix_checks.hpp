#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <limits>
#include <string>

/// Checks that a matrix can be what the eigenproblem needs it to be. A failed check throws an
/// `InputError` that names the matrix's file, or a `ConfigError` that names the key of a generated
/// one. Rows and columns in messages count from 1, as in the files.
namespace heddle::apps {

/// How far from symmetric a matrix may be, relative to its largest entry: entries that were
/// computed twice, in different orders, differ by some roundings of it.
inline constexpr double kSymmetryTolerance = 1e4 * std::numeric_limits<double>::epsilon();

/// Throws for a matrix from `source` that cannot be used.
[[noreturn]] void refuse(const MatrixSource& source, const std::string& message);

/// A has rows, and as many columns.
void check_square(const MatrixSource& source, CsrView<double, HostSpace> A);

/// A is symmetric up to what rounding in the program that wrote it explains.
void check_symmetric(HostContext& context, const MatrixSource& source,
                     CsrView<double, HostSpace> A);

/// B (symmetric) has no diagonal entry and no 2×2 principal minor that rules out that it is
/// positive definite: b_ii > 0 and b_ij² ≤ b_ii b_jj. Up to order 20000 a sparse factorisation
/// decides, beyond it a negative Ritz value; what that misses the solve may notice (`indefinite`).
void check_may_be_positive_definite(HostContext& context, const MatrixSource& source,
                                    CsrView<double, HostSpace> B);

}  // namespace heddle::apps
