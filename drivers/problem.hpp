#pragma once

#include <heddle/drivers/matrix.hpp>
#include <heddle/linalg/base/error.hpp>
#include <optional>
#include <string>

namespace heddle {

/// The sizes of a problem that the choice of a method and the memory of a solve follow from.
struct ProblemSizes {
  Index n = 0;  ///< rows of A
  Index constraints = 0;
  Index rhs = 0;
  bool pencil = false;
  Index cols = 0;                 ///< of A, which is n×n but with `normal_equations`
  bool normal_equations = false;  ///< as in the problem
};

/// A problem in host memory: A x = λ B x or A X = R, A symmetric of order n; or, by AᵀA as an
/// operator, A v = σ u or min ‖R − A X‖, A n×m of any shape. With right-hand sides R it is a linear
/// system or least squares.
template <Scalar T>
struct HostProblem {
  HostMatrix<T> A{};
  std::optional<HostMatrix<T>> B{};  ///< symmetric positive definite; none: B = I
  HostBlock<T> constraints{};        ///< n×c: eigenvectors are sought B-orthogonal to its columns
  HostBlock<T> initial_guess{};      ///< m×g; of a linear system g is r, or 0
  HostBlock<T> rhs{};                ///< n×r, r = 0 for an eigenproblem
  /// Singular triplets of A are wanted, or least squares.
  bool normal_equations = false;
  /// m×n, read with `normal_equations` alone. None: made from A, which then must be stored.
  std::optional<HostMatrix<T>> A_transposed{};
  /// M⁻¹ of the caller, symmetric positive definite, of the order of the vectors that A multiplies.
  /// None: what the request asks for.
  std::optional<HostMatrix<T>> preconditioner{};

  Index order() const noexcept { return A.rows(); }
  Index nnz() const noexcept { return A.nnz(); }
  ProblemSizes sizes() const noexcept {
    return {order(), constraints.cols(), rhs.cols(), B.has_value(), A.cols(), normal_equations};
  }
  /// Bytes of the matrices and blocks.
  double bytes() const noexcept;
};

using Problem = HostProblem<double>;

/// A part of a problem.
enum class ProblemPart { matrix, mass, constraints, initial_guess, rhs, preconditioner };

/// A part of a problem that cannot be what the problem needs it to be. `what()` is
/// "FIELD: message" with the field of `Problem`.
class ProblemError : public InvalidArgument {
 public:
  ProblemError(ProblemPart part, const std::string& message);

  ProblemPart part() const noexcept { return part_; }
  const std::string& message() const noexcept { return message_; }

 private:
  ProblemPart part_;
  std::string message_;
};

/// A field of a request that the problem, or another field, rules out. `what()` begins with the
/// field.
class RequestError : public InvalidArgument {
 public:
  /// `field`: of `Request`, dotted. `message` follows its name: " is 9, but …" or ": … ".
  RequestError(std::string field, const std::string& message)
      : InvalidArgument(field + message), field_(std::move(field)) {}

  const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

}  // namespace heddle
