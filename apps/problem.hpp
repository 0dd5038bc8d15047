#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem.hpp>

/// The matrices and blocks that a configuration names: loaded or generated, transformed, checked.
namespace heddle::apps {

/// Loads, transforms and checks what `config` names. Throws `InputError` naming the file for one
/// that cannot be read or does not fit, `ConfigError` where the configuration is to blame, as for a
/// structure that cannot be generated or used, or a row of a unit vector beyond the order;
/// `OutOfMemory` for more right-hand sides than there is room. See `detail::prepare` for the
/// checks.
Problem load_problem(HostContext& context, const Config& config);

/// Throws what `with_named_sources` says.
[[noreturn]] void refuse(const Config& config, const ProblemError& error);
[[noreturn]] void refuse(const Config& config, const RequestError& error);

/// body(), with what the drivers refuse named as the user knows it: a `ProblemError` becomes an
/// `InputError` that names the file, or a `ConfigError` that names the key of a generated matrix; a
/// `RequestError` becomes a `ConfigError` at the key.
template <class Body>
auto with_named_sources(const Config& config, Body&& body) {
  try {
    return body();
  } catch (const ProblemError& error) {
    refuse(config, error);
  } catch (const RequestError& error) {
    refuse(config, error);
  }
}

}  // namespace heddle::apps
