#include <fmt/format.h>

#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/factor_libraries.hpp>

namespace heddle::detail {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

}  // namespace

std::string uncountable_reason(const Facts& facts) {
  const std::string_view part = callable_part(facts);
  if (!part.empty()) return fmt::format("{} is a callable, which cannot be factored", part);
  if (facts.processes == 1) return {};
  return "several processes or GPUs hold the matrices, so that none is factored";
}

void check_certify(const Request& request, const Facts& facts) {
  if (request.certify != Certify::inertia) return;
  const std::string reason = uncountable_reason(facts);
  if (reason.empty()) return;
  throw RequestError("certify", fmt::format(": inertia: {}: use auto or no", reason));
}

bool is_counted_after(const StagePlan& stage) noexcept {
  const Algorithm algorithm = stage.method->algorithm;
  return algorithm == Algorithm::lobpcg || algorithm == Algorithm::block_lanczos;
}

bool needs_factor_cost(const StagePlan& stage, const Facts& facts) {
  if (!is_counted_after(stage) || !uncountable_reason(facts).empty()) return false;
  const Certify certify = stage.request.certify;
  return certify == Certify::inertia ||
         (certify == Certify::automatic && facts.order() <= kAlwaysCounted);
}

void check_certify_memory(const Request& request, const FactorCost& cost) {
  if (request.certify != Certify::inertia) return;
  const double bytes = kIndefiniteBytes * cost.entries;
  const double most = kFactorShare * host_memory_bytes();
  if (bytes <= most) return;
  throw RequestError(
      "certify", fmt::format(": inertia: the factor of A - sigma B takes about {:.1f} GiB, it may "
                             "take {:.1f} GiB, a quarter of the memory: use auto or no",
                             bytes / kGiB, most / kGiB));
}

PlannedChoice planned_count(const Request& request, const Facts& facts, const FactorCost& cost) {
  const std::string reason = uncountable_reason(facts);
  if (request.certify == Certify::no || !reason.empty()) return {"count of pairs", "none", reason};
  if (request.certify == Certify::inertia) {
    return {"count of pairs", "by inertia",
            fmt::format("the factor takes about {:.0e} operations and {:.2g} GiB", cost.operations,
                        kIndefiniteBytes * cost.entries / kGiB)};
  }
  if (facts.order() <= kAlwaysCounted && cost.operations <= kAlwaysFactored) {
    return {"count of pairs", "by inertia", "the order is small"};
  }
  return {"count of pairs", "by inertia where it costs little, or next to stiff rows", ""};
}

PlannedChoice planned_library(const Request& request, bool on_gpu, Index rows,
                              const FactorCost& cost) {
  const bool known = cost.operations > 0;
  const FactorLibraryRow& host =
      known ? cheapest_indefinite_library(rows, cost) : indefinite_library();
  std::string others;
  const bool may_use_gpu = on_gpu && request.factorization != FactorLibrary::host;
  for (const FactorLibraryRow& row : factor_libraries()) {
    if (!row.inertia || (row.on_device && !may_use_gpu)) continue;
    const std::string missing = row.missing();
    if (!missing.empty()) others += fmt::format("; not {}: {}", row.name, missing);
  }
  const FactorLibraryRow& device = factor_library("cuDSS");
  if (!may_use_gpu || !device.missing().empty()) {
    const char* small = known || !host.pivots ? "" : "; Eigen for factors that it makes faster";
    return {"factorization", std::string(host.name), std::string(host.cost) + small + others};
  }
  if (is_cudss(request.factorization)) {
    return {"factorization", std::string(device.name), ""};
  }
  return {
      "factorization",
      fmt::format("{}, {} where the factor does not fit or is not stable", device.name, host.name),
      std::string(device.cost) + others};
}

}  // namespace heddle::detail
