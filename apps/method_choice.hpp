#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/problem.hpp>

namespace heddle::apps {

/// A configuration whose method is settled, and the choice of that method.
struct SettledMethod {
  Config config;
  detail::MethodChoice choice;
};

/// Settles the method that suits `problem` where `solver.type: auto` leaves the choice open. Warns
/// about keys of the configuration that have no effect with this method. The choice depends on the
/// null space of B, whose dimension is stored in `problem`. Throws as `load_problem` does for an
/// unusable B.
SettledMethod with_method(HostContext& context, const Config& config, Problem& problem);

}  // namespace heddle::apps
