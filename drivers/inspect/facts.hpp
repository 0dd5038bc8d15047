#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// The sizes of a problem. They determine which methods solve it, and the memory of a solve.
struct ProblemSizes {
  Index n = 0;                     ///< rows of A
  Index constraints = 0;           ///< columns of `ProblemOf::constraints`
  Index rhs = 0;                   ///< right-hand sides
  bool pencil = false;             ///< whether there is a B
  bool buckling = false;           ///< whether it is the negative of a geometric stiffness
  Index cols = 0;                  ///< columns of A, which is n×n unless `normal_equations` is set
  bool normal_equations = false;   ///< as in `ProblemOf`
  Index infinite_eigenvalues = 0;  ///< as in `ProblemOf`, 0 where they have not been counted
  Index null_vectors = 0;          ///< null vectors of A that are known before the solve
  int processes = 1;               ///< that hold the rows during a solve
};

}  // namespace heddle

/// The facts about a problem before it is solved. All choices of a solve are made from these facts
/// and the request.
namespace heddle::detail {

/// A matrix of a problem without its entries.
struct MatrixShape {
  bool given = false;   ///< whether the problem has this matrix
  bool stored = false;  ///< false: it is a callable
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;  ///< stored entries, of all processes where they are known
};

/// A block of a problem without its entries.
struct BlockShape {
  Index rows = 0;
  Index cols = 0;
};

/// The facts about one problem. Those below the shapes are found by `inspect`.
struct Facts {
  MatrixShape A{}, B{}, A_transposed{}, preconditioner{};
  BlockShape constraints{}, initial_guess{}, rhs{};
  bool complex = false;  ///< whether the numbers are complex
  bool normal_equations = false;
  bool buckling = false;  ///< whether B is −K_g, of which nothing but the symmetry is known
  int processes = 1;      ///< that hold the rows during a solve, as `Device::processes`
  /// Set where each process has only its own rows of A and B from the beginning: their partition.
  /// Both are then symmetric, in the order of the problem, and need no scaling. The graph of A
  /// shows no null vectors that concern the request, and B is positive definite.
  std::shared_ptr<const Partition> own_rows{};
  bool own_rhs = false;  ///< with `own_rows`: whether `rhs` has the rows of this process alone

  std::optional<Index> infinite_eigenvalues{};  ///< the dimension of the null space of B
  bool diagonal_mass = false;                   ///< whether B is stored and diagonal
  /// The null vectors of A that its graph shows: for the smallest end up to nev of them, for a
  /// linear system all, or the constant vector. Null: there are none.
  std::shared_ptr<const GraphNullSpace> null_space{};
  /// n×m: vectors that A nearly maps to zero away from the boundary: those of the problem, the
  /// motions of its nodes, or its null vectors. 0 columns: none are known.
  Block near_null{};
  Index unknowns = 0;  ///< per node. 0: not known

  Index order() const noexcept { return A.rows; }
  ProblemSizes sizes() const noexcept;
  /// Bytes of a number in double precision.
  std::size_t number_bytes() const noexcept {
    return complex ? 2 * sizeof(double) : sizeof(double);
  }
  /// The bytes of all matrices and blocks in double precision.
  double bytes() const noexcept;
};

/// The facts that need no look at an entry, of a problem whose rows `processes` will hold.
template <class M, class X>
Facts shape_of(const ProblemOf<M, X>& problem, int processes) {
  const auto matrix = [](const M& A) {
    return MatrixShape{true, A.is_stored(), A.rows(), A.cols(), A.nnz()};
  };
  const auto optional = [&](const std::optional<M>& A) { return A ? matrix(*A) : MatrixShape{}; };
  const auto block = [](const auto& X_) { return BlockShape{X_.rows(), X_.cols()}; };
  Facts facts{
      .A = matrix(problem.A),
      .B = optional(problem.geometric_stiffness ? problem.geometric_stiffness : problem.B),
      .A_transposed = problem.normal_equations ? optional(problem.A_transposed) : MatrixShape{},
      .preconditioner = optional(problem.preconditioner),
      .constraints = block(problem.constraints),
      .initial_guess = block(problem.initial_guess),
      .rhs = block(problem.rhs),
      .complex = kComplex<typename X::Value>,
      .normal_equations = problem.normal_equations,
      .buckling = problem.geometric_stiffness.has_value(),
      .processes = processes,
      .infinite_eigenvalues = problem.infinite_eigenvalues,
      .near_null = problem.near_null,
      .unknowns = problem.unknowns};
  if constexpr (requires { problem.A.whole(); }) {
    if (const WholeMatrix* const whole = problem.A.whole()) {
      facts.own_rows = whole->partition;
      facts.own_rhs = facts.rhs.cols > 0 && facts.rhs.rows != facts.A.rows;
    }
  }
  return facts;
}

/// The part of the problem that B is, and how messages call it.
ProblemPart part_of_B(bool buckling) noexcept;
std::string_view name_of_B(bool buckling) noexcept;

/// The name of the first matrix of a problem that is a callable, such as "A" or "B". Empty if there
/// is none.
std::string_view callable_part(const Facts& facts) noexcept;

/// Whether all pairs that `request` wants are null vectors that are known before the solve. The
/// method of `request` has been chosen.
bool all_known(const Request& request, const ProblemSizes& sizes) noexcept;

/// The unknowns per node, or those that `request` asks a preconditioner to assume. 0: not known.
Index known_unknowns(const Request& request, const Facts& facts);

/// Facts about vectors that A nearly maps to zero. Refers to the memory of `facts`.
NearNullSpace near_null_of(const Facts& facts) noexcept;

/// The part of a message that names the length of a right-hand side, such as "has order 3".
std::string describe_rows(const Facts& facts);

// Vectors that A nearly maps to zero away from the boundary, for preconditioners.

/// Checks `facts.near_null`, as the problem has it, and `coordinates`. Makes the rigid body motions
/// of the nodes from coordinates. Where neither is given, takes the null vectors that the graph of
/// A shows, with ones in rows where all of them are 0. Throws `ProblemError` if they do not fit A,
/// or are zero or not finite.
void find_near_null(HostContext& context, const Block& coordinates, Facts& facts);

/// Sets `facts.unknowns` of a problem that several processes will share, as asked, else from the
/// pattern of a stored A, so that `share` leaves the unknowns of a node together.
void find_nodes(HostContext& context, const Request& request, const Matrix& A, Facts& facts);

}  // namespace heddle::detail
