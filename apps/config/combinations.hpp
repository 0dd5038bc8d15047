#pragma once

#include <heddle/apps/config/config.hpp>

namespace heddle::apps {

/// Checks values that are valid one by one but not together. Throws `ConfigError` at one of them.
void check_combinations(const Config& config);

}  // namespace heddle::apps
