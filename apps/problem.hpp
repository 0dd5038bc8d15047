#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <optional>

/// The matrices and blocks that a configuration names: loaded or generated, transformed, checked.
namespace heddle::apps {

/// The sizes of a problem that a solver's memory follows from.
struct ProblemSizes {
  Index n = 0;  ///< rows of A
  Index constraints = 0;
  Index rhs = 0;
  bool pencil = false;
  Index cols = 0;  ///< of A, which is n×n but with `transform: normal_equations`
};

/// What a solver works on, in host memory: A x = λ B x or A X = R, A symmetric of order n; or
/// A v = σ u or min ‖R − A X‖, A n×m of any shape.
template <Scalar T>
struct ProblemInput {
  HostCsrMatrix<T> A;
  std::optional<HostCsrMatrix<T>> B;             ///< none: B = I
  std::optional<HostCsrMatrix<T>> A_transposed;  ///< with `transform: normal_equations`
  MultiVector<T, HostSpace> constraints;         ///< n×c, c = 0 if there are none
  MultiVector<T, HostSpace> initial_guess;       ///< m×g, g = 0 if there is none
  MultiVector<T, HostSpace> rhs;                 ///< n×r, r = 0 for an eigenproblem

  Index order() const noexcept { return A.rows(); }
  Index nnz() const noexcept { return A.nnz(); }
  ProblemSizes sizes() const noexcept {
    return {order(), constraints.cols(), rhs.cols(), B.has_value(), A.cols()};
  }
  /// Bytes of the matrices and blocks.
  double bytes() const noexcept;
};

/// Loads, transforms and checks what `config` names. Throws `InputError` naming the file for one
/// that cannot be read or does not fit: A not square or not symmetric (unless the transform is
/// `normal_equations`), B of another order or shown not to be positive definite by a diagonal entry
/// or a 2×2 principal minor, blocks of other length, a guess of another width than the right-hand
/// sides. Throws `ConfigError` where the configuration is to blame: nev or a row of a unit vector
/// too large for the order, a structure that cannot be generated or used; `OutOfMemory` for more
/// right-hand sides than there is room. `check_precision` holds, too.
ProblemInput<double> load_problem(HostContext& context, const Config& config);

}  // namespace heddle::apps
