#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/multigrid/local_levels.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>

namespace heddle::detail {

void refuse_node_rows(Index rows, Index unknowns) {
  if (rows % unknowns != 0) {
    throw InvalidArgument(fmt::format(
        "MultigridPreconditioner: {} rows are not a multiple of {} unknowns", rows, unknowns));
  }
  throw InvalidArgument(fmt::format(
      "MultigridPreconditioner: the rows of a process end within a node of {} unknowns", unknowns));
}

void refuse_negative(const NegativeEntry& entry) {
  throw InvalidArgument(
      fmt::format("MultigridPreconditioner: A must be positive semidefinite, its diagonal entry "
                  "in row {} is {:.3g}",
                  entry.row + 1, entry.value));
}

void refuse_near_null(Index given, Index rows) {
  throw InvalidArgument(
      fmt::format("MultigridPreconditioner: near_null has {} rows, A has {}", given, rows));
}

template <class Ctx>
Hierarchy<typename Ctx::Space> make_hierarchy(Ctx& context,
                                              DistributedCsrView<double, typename Ctx::Space> A,
                                              const MultigridOptions& options, double roundoff) {
  if (options.degree < 1 || options.degree > kMostSmoothingDegree) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: the degree must be 1 to {}, it is {}",
                    kMostSmoothingDegree, options.degree));
  }
  if (A.is_distributed()) return distributed_hierarchy(context, A, options, roundoff);
  return all_levels(LocalLevels<Ctx>(context), A.own, options, roundoff);
}

#define HEDDLE_INSTANTIATE(Ctx, Space)                                              \
  template Hierarchy<Space> make_hierarchy(Ctx&, DistributedCsrView<double, Space>, \
                                           const MultigridOptions&, double);
HEDDLE_INSTANTIATE(HostContext, HostSpace)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext, DeviceSpace)
#endif
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
