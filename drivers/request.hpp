#pragma once

#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <optional>
#include <string>

/// What a solve is asked for, whatever the scalar and the memory space.
namespace heddle {

/// The iteration that solves. `automatic`: block CG for a problem with right-hand sides, else block
/// Lanczos for an interval and for the largest end of the spectrum, LOBPCG for the smallest end.
enum class Method { automatic, lobpcg, block_lanczos, block_cg };

/// `automatic` takes a GPU where the build and the machine have one and the problem can move there.
enum class DeviceChoice { automatic, cuda, host };

/// `mixed` solves in single precision first and continues in double from there.
enum class Precision { full, single, mixed };

/// [lower, upper], of the real line.
struct RealInterval {
  double lower = 0;
  double upper = 0;
};

/// The preconditioner as asked for.
struct PreconditionerRequest {
  /// A name from `preconditioner_table`, "none", or "auto" for what `automatic_preconditioner`
  /// says.
  std::string type = "auto";
  OptionValues options{};  ///< of this preconditioner; those left out have their defaults
};

/// How a problem is solved. A field that names methods is read by these alone.
struct Request {
  Method method = Method::automatic;
  Index nev = 6;  ///< pairs or triplets wanted; of an interval the most that there may be
  Which which = Which::smallest;
  /// Block Lanczos: set where all pairs in it are wanted, rather than an end of the spectrum.
  std::optional<RealInterval> interval{};
  Index block_size = 0;  ///< columns iterated at once in an eigenproblem; 0: chosen from nev
  double tolerance = 0;  ///< 0: `kDefaultTolerance` of the scalar
  Criterion criterion = Criterion::norm;                         ///< of an eigenproblem
  LinearCriterion linear_criterion = LinearCriterion::relative;  ///< block CG
  Index max_iterations = 0;  ///< 0: the default of `EigenOptions` or `LinearOptions`
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 42;                              ///< of the random start
  Index refresh_interval = 50;                          ///< LOBPCG, block CG
  Index max_basis = 0;                                  ///< block Lanczos; 0: chosen
  std::optional<LanczosFilter> filter{};                ///< block Lanczos; empty: what costs least
  CgAlgorithm algorithm = CgAlgorithm::breakdown_free;  ///< block CG
  PreconditionerRequest preconditioner{};
  SpmmOptions spmm{};
  Precision precision = Precision::full;
  DeviceChoice device = DeviceChoice::automatic;
  int threads = 0;  ///< on the host; 0: as many as OpenMP offers
  CheckpointOptions checkpoint{};
};

/// Whether the method is for A x = λ B x; else it is for A X = B.
constexpr bool is_eigensolver(Method method) noexcept { return method != Method::block_cg; }

}  // namespace heddle
