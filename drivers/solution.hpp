#pragma once

#include <heddle/drivers/matrix.hpp>
#include <heddle/linalg/base/profile.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

namespace heddle {

/// Eigenvectors, singular vectors of a side or the solution of a linear system in host memory, one
/// per column, in the scalar that solved: double, but with `Precision::single`, and with
/// `Precision::mixed` where the first stage ended the solve.
using HostVectors = std::variant<HostBlock<double>, HostBlock<float>>;

/// What making a preconditioner took.
struct PreconditionerCost {
  double seconds = 0;
  std::size_t bytes = 0;  ///< of the memory of the device that it keeps
};

/// What a solve gave: the fields of an `EigenResult`, a `SingularResult`, a `LinearResult` or a
/// `LeastSquaresResult`, as there; those of other kinds are empty or 0.
struct Solution {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index operator_applications = 0;
  Index inverse_applications = 0;
  std::vector<double> eigenvalues;
  std::vector<double> singular_values;  ///< `eigenvalues` are then their squares
  std::vector<double> residuals;
  double orthogonality = 0;
  Index matrix_passes = 0;
  std::vector<double> backward_errors;
  std::vector<double> residual_norms;
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  HostVectors vectors;       ///< n×k, k ≥ `count()`; of singular triplets the right ones
  HostVectors left_vectors;  ///< of singular triplets, else empty

  std::string method;       ///< that solved, as in the table of methods
  std::string device;       ///< "host" or "cuda"
  std::string device_note;  ///< why, where that needs saying
  Index block_size = 0;     ///< columns multiplied by A at once
  std::string spmm_kernel;  ///< that multiplied A by the block, and why; empty for a callable
  std::string spmm_reason;
  std::string preconditioner_name;  ///< "jacobi of A", "none", …
  PreconditionerCost preconditioner;
  double setup_seconds = 0;
  double solve_seconds = 0;
  Profile profile;             ///< of the device, over setup and solve
  std::size_t peak_bytes = 0;  ///< of the memory of the device that was held at once

  /// Eigenvectors, or columns of the solution, that there are: the first of `vectors`.
  Index count() const noexcept { return std::ssize(eigenvalues.empty() ? residuals : eigenvalues); }
};

}  // namespace heddle
