#pragma once

#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/profile.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <iterator>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace heddle {

namespace detail {
struct OwnVectors;
}

/// Eigenvectors, left or right singular vectors, or the solutions of linear systems, one per
/// column, in host memory. The scalar is float for `Precision::single`, and for `Precision::mixed`
/// if the first stage ended the solve. It is complex for a `ComplexProblem`, otherwise double.
using HostVectors =
    std::variant<HostBlock<double>, HostBlock<float>, HostBlock<std::complex<double>>>;

namespace detail {

/// visit(block) for vectors of real numbers. Throws `InvalidArgument` if they are complex.
template <class Visit>
auto visit_real(const HostVectors& vectors, const Visit& visit) {
  if (const auto* const single = std::get_if<HostBlock<float>>(&vectors)) return visit(*single);
  if (const auto* const full = std::get_if<HostBlock<double>>(&vectors)) return visit(*full);
  throw InvalidArgument("the vectors are complex, real ones are needed");
}

}  // namespace detail

/// The cost of setting up a preconditioner.
struct PreconditionerCost {
  double seconds = 0;
  std::size_t bytes = 0;  ///< bytes of device memory that the preconditioner keeps
};

/// The precision of a preconditioner.
struct PrecisionReport {
  std::string precision{};  ///< "double", "single" or "single, then double". Empty: none was made
  std::string reason{};     ///< why
};

/// The result of a solve. It has the fields of an `EigenResult`, a `SingularResult`, a
/// `LinearResult` or a `LeastSquaresResult`, with the same meaning. Fields that the result of the
/// method does not have are empty or 0.
struct Solution {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index operator_applications = 0;  ///< columns multiplied by A
  Index inverse_applications = 0;   ///< columns solved with a factor of A − σB
  /// The library that factored A − σB, as "cuDSS 1.0.0". Empty: nothing was solved with a factor.
  std::string factor_library;
  std::vector<double> eigenvalues;  ///< ascending for smallest, descending for largest
  /// Infinite eigenvalues of a pencil with a singular B. They are not among `eigenvalues`.
  Index infinite_eigenvalues = 0;
  /// The first of the pairs, with λ = 0, whose vectors the graph of A showed before the solve.
  Index null_vectors = 0;
  std::vector<double> singular_values;  ///< if there are any, `eigenvalues` are their squares
  /// Of a pencil A x = λ B x of stiffness and mass: √λ/2π of each eigenvalue, and −√|λ|/2π of a
  /// negative one. Empty for other problems.
  std::vector<double> frequencies;
  std::vector<double> residuals;     ///< as in the result of the method, recomputed at the end
  std::vector<bool> converged;       ///< whether the pair, triplet or column passes the criterion
  std::vector<double> error_bounds;  ///< bounds of the errors of the values
  std::vector<bool> limited_by_rounding;
  std::vector<bool> straddles;               ///< as in `EigenResult`
  bool inverse_reaches_more_digits = false;  ///< as in `EigenResult`
  CompletenessEvidence completeness;         ///< of an eigensolver
  double orthogonality = 0;                  ///< as in `EigenResult` and `SingularResult`
  Index matrix_passes = 0;                   ///< as in `LinearResult`
  std::vector<double> backward_errors;       ///< as in `LinearResult`
  std::vector<double> error_estimates;       ///< as in `LinearResult`
  std::vector<double> residual_norms;        ///< as in `LeastSquaresResult`
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  HostVectors vectors;       ///< k ≥ `count()` columns. For singular triplets: the right vectors
  HostVectors left_vectors;  ///< left singular vectors of triplets, else empty

  /// Set where each process keeps its rows of the vectors, as `detail::MethodChoice` asks: those of
  /// process 0. `vectors` and `left_vectors` are then empty. Null: process 0 has all rows.
  std::shared_ptr<const detail::OwnVectors> own_vectors{};

  std::string method;         ///< the method that solved, as in the table of methods
  std::string method_reason;  ///< why `Method::automatic` chose the method, else empty
  std::string device;         ///< "host" or "cuda"
  std::string device_note;    ///< why `automatic` chose the host, else empty
  Index block_size = 0;       ///< columns multiplied by A at once
  std::string spmm_kernel;    ///< the kernel that multiplied A by the block. Empty for a callable
  std::string spmm_reason;    ///< why this kernel was taken
  std::string row_order;      ///< of the rows during the solve, such as "rcm", or "none"
  std::string row_order_reason;  ///< why `RowOrder::automatic` chose it, else empty
  std::string distribution;      ///< of rows over several processes, with the reason. Empty for one
  std::string preconditioner_name;           ///< "jacobi of A", "none", …
  std::string preconditioner_reason{};       ///< why `auto` chose it, else empty
  PreconditionerCost preconditioner;         ///< the cost of its setup
  PrecisionReport preconditioner_precision;  ///< the precisions that it had
  Index preconditioner_strength = 0;         ///< its degree at the end. 0: there was no choice
  /// Of a preconditioner that makes a hierarchy of levels, the finest first.
  std::vector<OperatorLevel> preconditioner_levels;
  double setup_seconds = 0;    ///< of all that precedes the solve
  double solve_seconds = 0;    ///< of the solve
  Profile profile;             ///< profile of the setup and the solve on the device
  std::size_t peak_bytes = 0;  ///< the peak of the device memory held, of process 0
  /// The largest such peak of all processes. Of one process, `peak_bytes`.
  std::size_t peak_bytes_most = 0;

  /// The number of eigenvectors, triplets or solutions. They are the leading columns of `vectors`.
  Index count() const noexcept { return std::ssize(eigenvalues.empty() ? residuals : eigenvalues); }
};

}  // namespace heddle
