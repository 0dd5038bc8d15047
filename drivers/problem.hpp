#pragma once

#include <heddle/drivers/matrix.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <heddle/spmm/reorder/order_choice.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The sizes of a problem. They determine the choice of a method and the memory of a solve.
struct ProblemSizes {
  Index n = 0;  ///< rows of A
  Index constraints = 0;
  Index rhs = 0;
  bool pencil = false;
  Index cols = 0;                  ///< columns of A, which is n×n unless `normal_equations` is set
  bool normal_equations = false;   ///< as in `HostProblem`
  Index infinite_eigenvalues = 0;  ///< as in `HostProblem`, 0 where they have not been counted
  Index null_vectors = 0;          ///< the dimension of the `null_space` of `HostProblem`
  int processes = 1;               ///< that hold the rows during a solve
};

/// A problem in host memory. Without `normal_equations` it is A x = λ B x or A X = R, with a
/// symmetric n×n A. With `normal_equations` it is A v = σ u, Aᵀu = σ v or min ‖R − A X‖, with an
/// n×m A of any shape. It is a linear system or a least-squares problem if there are right-hand
/// sides R.
template <Scalar T>
struct HostProblem {
  HostMatrix<T> A{};
  /// Symmetric positive definite. None: B = I. Block Lanczos takes a semidefinite B, too, for the
  /// smallest end of the spectrum.
  std::optional<HostMatrix<T>> B{};
  HostBlock<T> constraints{};      ///< n×c: eigenvectors are sought B-orthogonal to its columns
  HostBlock<T> initial_guess{};    ///< m×g, where m is the number of columns of A. With right-hand
                                   ///< sides g is r or 0
  bool guess_from_random = false;  ///< as in `EigenProblem`
  HostBlock<T> rhs{};              ///< R, n×r. r = 0 for eigenpairs and singular triplets
  /// Whether singular triplets of A or least-squares solutions are wanted, which are found by AᵀA
  /// as an operator.
  bool normal_equations = false;
  /// Aᵀ, m×n. Read only with `normal_equations`. None: it is made from A, which must then be
  /// stored.
  std::optional<HostMatrix<T>> A_transposed{};
  /// A preconditioner M⁻¹ given by the caller, m×m, symmetric positive definite. None: the request
  /// chooses the preconditioner.
  std::optional<HostMatrix<T>> preconditioner{};
  /// n×m: vectors that A nearly maps to zero away from the boundary, for a preconditioner that
  /// takes them, such as the motions of a body. 0 columns: none are known.
  HostBlock<double> near_null{};
  /// nodes×2 or nodes×3: the positions of the nodes of an elastic body, whose motions become
  /// `near_null`. n is a multiple of the number of nodes; see `rigid_body_motions`.
  HostBlock<double> coordinates{};
  Index unknowns = 0;  ///< per node, numbered node by node. 0: not known, or set by `coordinates`
  /// The dimension of the null space of B, which is the number of infinite eigenvalues. None: it is
  /// determined from B, for orders above 20000 only by the rows of B that are zero.
  std::optional<Index> infinite_eigenvalues{};

  /// The absolute values of a vector without zeros that A maps to 0, n positive numbers, if one is
  /// known, such as the square roots of the degrees of a weighted graph for its normalised
  /// Laplacian. Only a hint, which is checked. Empty: none is known, ones and the square roots of
  /// unweighted degrees are tried, see `graph_null_space`.
  std::vector<double> null_vector_sizes{};
  /// The null vectors of A that its graph shows, up to nev of them, for the smallest end. `solve`
  /// looks for them. Null: there are none.
  std::shared_ptr<const GraphNullSpace> null_space{};

  /// The order in which a solve by one process takes the rows of the problem, which has its own
  /// order until then. `solve` chooses it. Null: it has not been chosen.
  std::shared_ptr<const OrderChoice> row_order{};

  /// Set where each process has only its own rows of A and B from the beginning, as
  /// `detail::make_own_rows` makes them: their partition. Both are then distributed matrices in the
  /// order of the problem, symmetric, and need no scaling. The graph of A shows no null vectors
  /// that concern the request, and B is positive definite. Null: process 0 has all rows.
  std::shared_ptr<const Partition> own_rows{};
  bool own_rhs = false;  ///< with `own_rows`: whether `rhs` has the rows of this process alone

  /// The number of processes that will hold the rows during a solve, as `Device::processes`. With
  /// more than one, process 0 has the whole problem until then, but for `own_rows`.
  int processes = 1;

  Index order() const noexcept { return row_range(A.view()).global; }
  Index nnz() const noexcept { return A.nnz(); }
  ProblemSizes sizes() const noexcept {
    return {order(),
            constraints.cols(),
            rhs.cols(),
            B.has_value(),
            column_range(A.view()).global,
            normal_equations,
            infinite_eigenvalues.value_or(0),
            null_space ? null_space->dimension : 0,
            processes};
  }
  /// The bytes of all matrices and blocks.
  double bytes() const noexcept;
};

using Problem = HostProblem<double>;

/// A part of a problem.
enum class ProblemPart {
  matrix,
  mass,
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
  ProblemError(ProblemPart part, const std::string& message);

  ProblemPart part() const noexcept { return part_; }
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

  const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

}  // namespace heddle
