#include "low_precision/steps.hpp"

#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <utility>

#include "low_precision/graph_clock.hpp"

namespace heddle::lab {
namespace {

using Plan = LowPrecisionPlan<Half, CudaContext>;

/// The blocks of a step. Their values do not matter.
struct Step {
  NarrowBlock<Half, DeviceSpace> B, X, C;

  Step(CudaContext& context, Index rows, Index N)
      : B(context, rows, N), X(context, rows, N), C(context, rows, N) {}

  double microseconds(CudaContext& context, Plan& plan, Index N) {
    const auto b = B.columns(N), x = X.columns(N), c = C.columns(N);
    return time_work(
               context,
               [&] { plan.multiply(context, -1, b, {.beta = 0.5f, .delta = 0.5f, .X = x}, c); })
        .microseconds;
  }
};

}  // namespace

std::string steps_head() {
  std::string names, rule;
  for (const std::string_view kernel : low_precision_kernels()) {
    names += fmt::format(" {} |", kernel);
    rule += "---|";
  }
  return fmt::format("| matrix | N |{} chosen, us | which | why |\n|---|---|{}---|---|---|", names,
                     rule);
}

std::string steps_line(CudaContext& context, HostContext& host, const std::string& name,
                       const CsrView<float, HostSpace>& A, Index N) {
  Step step(context, A.rows, N);
  std::string line = fmt::format("| {} | {} |", name, N);
  for (const std::string_view kernel : low_precision_kernels()) {
    try {
      Plan plan(context, host, A,
                {.scaling = RangeScaling::none, .kernel = std::string(kernel), .columns = N});
      line += fmt::format(" {:.2f} |", step.microseconds(context, plan, N));
    } catch (const InvalidArgument&) {
      line += " |";  // B has no room in shared memory
    }
  }
  const CsrMatrix<float, DeviceSpace> there = place(context, A);
  Plan plan(context, there.view(), {.scaling = RangeScaling::none, .columns = N});
  return line + fmt::format(" {:.2f} | {} | {} |", step.microseconds(context, plan, N),
                            plan.kernel(), plan.reason());
}

}  // namespace heddle::lab
