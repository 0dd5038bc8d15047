#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem.hpp>

namespace heddle::apps {

/// `config` with the method that suits `problem`, if `solver.type: auto` leaves the choice open.
/// Warns about keys of the configuration that have no effect with this method.
Config with_method(const Config& config, const Problem& problem);

}  // namespace heddle::apps
