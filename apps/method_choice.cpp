#include <spdlog/spdlog.h>

#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/method_choice.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/drivers/input.hpp>
#include <heddle/drivers/null_space.hpp>

namespace heddle::apps {

SettledMethod with_method(HostContext& context, const Config& config, Problem& problem) {
  if (config.request.method == Method::automatic) {
    with_named_sources(config, [&] { detail::inspect_mass(context, problem); });
  }
  with_named_sources(config, [&] { detail::inspect_null_space(context, problem, config.request); });
  SettledMethod settled{config, with_named_sources(config, [&] {
                          return detail::choose_method(config.request, problem);
                        })};
  if (config.request.method == Method::automatic) {
    settled.config = settle_method(config, settled.choice.request.method, settled.choice.reason);
  }
  // A checkpoint holds one solve.
  if (!config.request.checkpoint.file.empty()) settled.choice.may_continue = false;
  for (const std::string& key : settled.config.unused) {
    spdlog::warn("{} has no effect: solver.type: auto takes {}", key,
                 method_name(settled.config.request.method));
  }
  return settled;
}

}  // namespace heddle::apps
