#pragma once

#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/linalg/base/error.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A problem with matrices of the type M and blocks of the type X, which name their memory, their
/// scalar, and whether a matrix is stored or a callable. Without `normal_equations` it is A x = λ B
/// x or A X = R, with a symmetric or Hermitian n×n A. With `normal_equations` it is A v = σ u, Aᴴu
/// = σ v or min ‖R − A X‖, with an n×m A of any shape. It is a linear system or a least-squares
/// problem if there are right-hand sides R. A solve reads it and never writes to it: what is found
/// out about it is in the `SolvePlan`.
template <class M, class X>
struct ProblemOf {
  M A{};  ///< the matrix of the problem
  /// Symmetric positive definite. None: B = I. Block Lanczos takes a semidefinite B, too, for the
  /// smallest end of the spectrum.
  std::optional<M> B{};
  /// The geometric stiffness K_g of a structure under a reference load, symmetric, n×n, with the
  /// sign of K + λ K_g. The eigenvalues are then the load factors λ of A x = −λ K_g x, with a
  /// positive definite A, and xᵀA x = 1. Goes with no B. None: no load factors are wanted.
  std::optional<M> geometric_stiffness{};
  X constraints{};                 ///< n×c: eigenvectors are sought B-orthogonal to its columns
  X initial_guess{};               ///< m×g, where m is the number of columns of A. With right-hand
                                   ///< sides g is r or 0
  bool guess_from_random = false;  ///< as in `EigenProblem`
  X rhs{};                         ///< R, n×r. r = 0 for eigenpairs and singular triplets
  /// Whether singular triplets of A or least-squares solutions are wanted, which are found by AᴴA
  /// as an operator.
  bool normal_equations = false;
  /// Aᴴ, m×n. Read only with `normal_equations`. None: it is made from A, which must then be
  /// stored.
  std::optional<M> A_transposed{};
  /// A preconditioner M⁻¹ given by the caller, m×m, symmetric positive definite. None: the request
  /// chooses the preconditioner.
  std::optional<M> preconditioner{};
  /// n×m in host memory: vectors that A nearly maps to zero away from the boundary, for a
  /// preconditioner that takes them, such as the motions of a body. 0 columns: none are known.
  HostBlock<double> near_null{};
  /// nodes×2 or nodes×3 in host memory: the positions of the nodes of an elastic body, whose
  /// motions stand for `near_null`. n is a multiple of the number of nodes; see
  /// `rigid_body_motions`.
  HostBlock<double> coordinates{};
  Index unknowns = 0;  ///< per node, numbered node by node. 0: not known, or told by `coordinates`
  /// The dimension of the null space of B, which is the number of infinite eigenvalues. None: it is
  /// determined from B, for orders above 20000 only by the rows of B that are zero.
  std::optional<Index> infinite_eigenvalues{};
  /// The absolute values of a vector without zeros that A maps to 0, n positive numbers, if one is
  /// known, such as the square roots of the degrees of a weighted graph for its normalised
  /// Laplacian. Only a hint, which is checked. Empty: none is known, ones and the square roots of
  /// unweighted degrees are tried, see `graph_null_space`.
  std::vector<double> null_vector_sizes{};
};

/// A problem in host memory.
template <Scalar T>
using HostProblem = ProblemOf<HostMatrix<T>, HostBlock<T>>;

/// A problem in double precision, which `solve` takes.
using Problem = HostProblem<double>;

/// A problem with complex matrices, which `solve` takes, too. A is Hermitian, A = Aᴴ with a real
/// diagonal, and B is Hermitian positive definite. It is solved on the host, in double precision,
/// by LOBPCG, block Lanczos for an end of the spectrum, or block CG. A real matrix with complex
/// blocks is such a problem, too.
using ComplexProblem = HostProblem<std::complex<double>>;

/// A part of a problem.
enum class ProblemPart {
  matrix,
  mass,
  geometric_stiffness,
  constraints,
  initial_guess,
  rhs,
  preconditioner,
  near_null,
  coordinates
};

/// The error for an invalid part of a problem, such as an A that is not symmetric. `what()` is
/// "FIELD: message" with the name of the field of `Problem`.
class ProblemError : public InvalidArgument {
 public:
  /// `message` follows the name of the field in `what()`.
  ProblemError(ProblemPart part, const std::string& message);

  /// The part that is invalid.
  ProblemPart part() const noexcept { return part_; }
  /// `what()` without the name of the field.
  const std::string& message() const noexcept { return message_; }

 private:
  ProblemPart part_;
  std::string message_;
};

/// The error for a field of a request that the problem or another field rules out. `what()` begins
/// with the name of the field.
class RequestError : public InvalidArgument {
 public:
  /// `field`: name of the field of `Request`, with dots between the names of nested fields.
  /// `message` follows the name in `what()`, such as " is 9, but …" or ": … ".
  RequestError(std::string field, const std::string& message)
      : InvalidArgument(field + message), field_(std::move(field)) {}

  /// The name of the field.
  const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

}  // namespace heddle
