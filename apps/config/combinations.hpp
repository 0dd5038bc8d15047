#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem/problem.hpp>

namespace heddle::apps {

/// Checks values that are valid one by one but not together. Throws `ConfigError` at one of them.
void check_combinations(const Config& config);

/// Throws the `ConfigError` of an error of the drivers library, at the key of its field.
[[noreturn]] void refuse(const Config& config, const RequestError& error);

}  // namespace heddle::apps
