#pragma once

#include <chrono>
#include <heddle/solvers/preconditioners/multigrid/grid.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
#include <optional>
#include <utility>

/// The parts of `make_hierarchy` that one process and several have in common.
namespace heddle::detail {

inline constexpr Index kCoarsestRows = 300;    // the dense inverse of this order takes about 0.03 s
inline constexpr double kMostComplexity = 3;   // entries of all levels per entry of A
inline constexpr double kLeastReduction = .8;  // rows of a level per row of the finer one, at most
inline constexpr double kMostProducts = 100;   // multiplications of A P per entry of A

/// The threshold of strong connections. Between nodes with several unknowns all are strong.
inline double strength_threshold(Index unknowns) { return unknowns > 1 ? 0 : 0.08; }

/// The seconds between calls of `lap`.
class Stopwatch {
 public:
  double lap() {
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The stored entries of all levels, and how many there may be.
struct EntryCount {
  double entries = 0;
  double most = 0;
};

/// The machine epsilon of the entries of the next level's A if that is the finest one.
template <class Space>
std::optional<double> roundoff_of_next(const Hierarchy<Space>& made) {
  return made.levels.empty() ? std::optional(made.roundoff) : std::nullopt;
}

/// An upper bound of the spectrum of A, whose diagonal is one. On coarser levels the rounding
/// errors of PᵀAP, divided by small diagonal entries, may be negative eigenvalues, so that only the
/// finest level, which gives the machine epsilon of its entries, tells whether A is indefinite. It
/// throws `InvalidArgument` if it is. Processes that share A call it together.
template <class Ctx>
double upper_bound(Ctx& context, CsrView<double, typename Ctx::Space> A,
                   std::optional<double> roundoff);

/// The finest grid, and s with its A = diag(s) A diag(s). Its near null vectors are those given,
/// else the vectors that are 1 at one unknown of all nodes, in terms of the scaled matrix. Throws
/// `InvalidArgument` if A has a negative diagonal entry or does not fit the options. Processes that
/// share A call it together and throw the same.
template <class Ctx, class Space = typename Ctx::Space>
std::pair<Grid<Space>, Buffer<double, Space>> finest_grid(Ctx& context, CsrView<double, Space> A,
                                                          const MultigridOptions& options);

/// Appends the level of `grid`, which one process has the whole of, and all coarser ones to `made`,
/// with the inverse of the coarsest. `count` includes the entries of `grid`.
template <class Ctx, class Space = typename Ctx::Space>
void add_levels(Ctx& context, Grid<Space> grid, EntryCount count, Hierarchy<Space>& made);

/// `make_hierarchy` for an A that processes share.
Hierarchy<HostSpace> distributed_hierarchy(HostContext& context, CsrView<double, HostSpace> A,
                                           const MultigridOptions& options, double roundoff);

/// The same for an A on a GPU, from levels made on the host.
Hierarchy<DeviceSpace> distributed_hierarchy(CudaContext& context, CsrView<double, DeviceSpace> A,
                                             const MultigridOptions& options, double roundoff);

}  // namespace heddle::detail
