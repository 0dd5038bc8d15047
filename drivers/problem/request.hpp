#pragma once

#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/certificate/certificate.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

/// The request for a solve. It does not depend on the scalar and the memory space.
namespace heddle {

/// The iterative method. `automatic` means block CG for a problem with right-hand sides, else block
/// Lanczos for an interval, singular triplets, the largest end of the spectrum, a pencil with a
/// singular B, and for the smallest end of matrices that can be factored at a moderate cost, else
/// LOBPCG. See `Solution::method_reason`.
enum class Method { automatic, lobpcg, block_lanczos, block_cg };

/// `automatic` means a GPU if the build and the machine support one and the problem can be moved
/// there, else the host.
enum class DeviceChoice { automatic, cuda, host };

/// `mixed` solves in single precision first and continues in double from there.
enum class Precision { full, single, mixed };

/// The interval [lower, upper] of the real line.
struct RealInterval {
  double lower = 0;  ///< the lower end. It may be −∞
  double upper = 0;  ///< the upper end. It may be ∞
};

/// The precision of the preconditioner in a solve in double precision. `automatic` means, in
/// LOBPCG, single precision for chebyshev, block_jacobi, incomplete_cholesky and multigrid if the
/// diagonal of their matrix fits into its range, and double precision near the level of rounding;
/// in block CG it means double precision. `half`, `bf16` and `tf32` are products in these types. A
/// solve raises every lower precision, at last to double, where it prevents progress.
enum class PreconditionerPrecision { automatic, full, single, half, bf16, tf32 };

/// The choice of a preconditioner by the user.
struct PreconditionerRequest {
  /// A name from `preconditioner_table`, "none", or "auto" for the result of
  /// `automatic_preconditioner`.
  std::string type = "auto";
  /// Options of this preconditioner. Options that are left out have their defaults.
  OptionValues options{};
  PreconditionerPrecision precision = PreconditionerPrecision::automatic;  ///< of its products
};

/// The method, the options and the device for solving a problem. A field whose comment names
/// methods is read by these alone, others refuse it. `detail::request_fields` has a row for each.
struct Request {
  Method method = Method::automatic;  ///< `automatic` chooses one for the problem
  /// Pairs or triplets wanted. For an interval: the most that it may contain. 0: 6, and as many as
  /// an interval contains, by a polynomial filter up to 100.
  Index nev = 0;
  Which which = Which::smallest;
  /// Block Lanczos: if set, all pairs with eigenvalues in the interval are wanted, rather than
  /// pairs at an end of the spectrum.
  std::optional<RealInterval> interval{};
  /// Block Lanczos: if set, the pairs nearest to this number are wanted, on one side of it or on
  /// both, rather than pairs at an end of the spectrum.
  std::optional<double> sigma{};
  /// Of `sigma`, or of load factors. None: both, but for load factors without a `sigma` the
  /// positive side.
  std::optional<Side> side{};
  /// Columns iterated at once in an eigenproblem. 0: chosen from nev, the end and the device.
  Index block_size = 0;
  double tolerance = 0;                         ///< 0: `kDefaultTolerance` of the scalar
  Criterion criterion = Criterion::eigenvalue;  ///< of an eigenproblem
  LinearCriterion linear_criterion = LinearCriterion::relative;  ///< block CG
  Index max_iterations = 0;  ///< 0: the default of `EigenOptions` or `LinearOptions`
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 42;                       ///< of the random start
  Index refresh_interval = 50;                   ///< LOBPCG, block CG
  StartVectors start = StartVectors::automatic;  ///< LOBPCG without an initial guess
  Index max_basis = 0;                           ///< block Lanczos. 0: chosen from nev
  /// Block Lanczos. Empty: the cheapest is chosen. For an interval: `chebyshev` or `inverse`, the
  /// latter by slices.
  std::optional<LanczosFilter> filter{};
  /// The library that factors A − σB or B for block Lanczos.
  FactorLibrary factorization = FactorLibrary::automatic;
  /// LOBPCG and block Lanczos for an end of the spectrum: whether the eigenvalues up to the last
  /// wanted one are counted after the solve, see `certified`.
  Certify certify = Certify::automatic;
  CgAlgorithm algorithm = CgAlgorithm::breakdown_free;  ///< block CG
  double damp = 0;  ///< least squares: δ ≥ 0, ‖b − A x‖² + δ²‖x‖² is minimised
  /// Block CG: whether the parts of right-hand sides along the known null vectors of A are removed.
  /// Without it, a right-hand side with such a part has no solution.
  bool project_rhs = false;
  PreconditionerRequest preconditioner{};  ///< for `lobpcg` and `block_cg`
  SpmmOptions spmm{};                      ///< how blocks are multiplied by the matrices
  /// The order of the rows and columns of A, B and all blocks while the solve runs. Results have
  /// the rows of the problem. Of one process; see `detail::order_problem` for what has no other
  /// order.
  RowOrder reorder = RowOrder::automatic;
  Precision precision = Precision::full;          ///< of the solve
  DeviceChoice device = DeviceChoice::automatic;  ///< where the solve runs
  /// GPUs of one process that solve together, 0 for all that are present. `Device` is made for
  /// them.
  int devices = 1;
  int threads = 0;  ///< on the host. 0: the default of `HostContext`
  Distribution distribution = Distribution::automatic;  ///< of rows over several processes
  CheckpointOptions checkpoint{};
};

/// Whether the method solves A x = λ B x. Otherwise it solves A X = B.
constexpr bool is_eigensolver(Method method) noexcept { return method != Method::block_cg; }

/// The name of `method`: "lobpcg", "block_lanczos", "block_cg" or "auto".
std::string_view method_name(Method method) noexcept;

}  // namespace heddle
