#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/cudss_factor.hpp>

namespace heddle::detail {

CudssFactor::CudssFactor(CudaContext& context, const CsrView<double, HostSpace>& lower,
                         double max_bytes, bool deterministic)
    : context_(context),
      lower_(place<double>(context, lower)),
      solver_(context, lower_, CudssSolver::Kind::indefinite, deterministic) {
  solver_.order();
  solver_.analyse();
  entries_ = solver_.cost().entries;
  const double needed = solver_.device_bytes();
  if (needed <= max_bytes) return;
  throw OutOfMemory(static_cast<std::size_t>(needed),
                    fmt::format("the factor of A - sigma B by cuDSS needs {:.0f} bytes, it may "
                                "take {:.0f}",
                                needed, max_bytes));
}

std::optional<PivotSigns> CudssFactor::factor(const double* lower_values) {
  context_.copy_to_device(lower_.values(), lower_values,
                          static_cast<std::size_t>(lower_.nnz()) * sizeof(double));
  if (!solver_.factor()) return std::nullopt;
  const auto [positive, negative] = solver_.inertia();
  // Where cuDSS has counted no pivots, both numbers are 0.
  const bool all = positive + negative == lower_.rows();
  return PivotSigns{negative, all && solver_.perturbed_pivots() == 0};
}

}  // namespace heddle::detail
