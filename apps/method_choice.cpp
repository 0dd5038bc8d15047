#include <spdlog/spdlog.h>

#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/method_choice.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/drivers/input.hpp>

namespace heddle::apps {
namespace {

/// Why `detail::choose_method` takes `method`.
std::string reason_for(const Request& request, const Problem& problem, Method method) {
  if (request.interval) return "only block Lanczos finds all eigenpairs in an interval";
  if (problem.constraints.cols() > 0) return "only LOBPCG takes constraints";
  if (problem.sizes().infinite_eigenvalues > 0)
    return "only block Lanczos takes a singular mass matrix";
  return method == Method::lobpcg
             ? "preconditioned iterations suit the smallest end of the spectrum"
             : "a growing basis suits the largest end of the spectrum";
}

}  // namespace

Config with_method(HostContext& context, const Config& config, Problem& problem) {
  Config settled = config;
  if (config.request.method == Method::automatic) {
    with_named_sources(config, [&] { detail::inspect_mass(context, problem); });
    const Method method = detail::choose_method(config.request, problem.sizes()).method;
    settled = settle_method(config, method, reason_for(config.request, problem, method));
  }
  for (const std::string& key : settled.unused) {
    spdlog::warn("{} has no effect: solver.type: auto takes {}", key,
                 method_name(settled.request.method));
  }
  return settled;
}

}  // namespace heddle::apps
