#pragma once

#include <heddle/apps/config/combinations.hpp>
#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/own_rows.hpp>
#include <heddle/drivers/problem.hpp>
#include <optional>

/// The matrices and blocks that a configuration names: loaded or generated, transformed, checked.
namespace heddle::apps {

/// Loads, transforms and checks the matrices and blocks that `config` names. Throws `InputError`
/// with the file name if a file cannot be read or does not fit. Throws `ConfigError` for errors of
/// the configuration, such as a structure that cannot be generated or used, or a row of a unit
/// vector beyond the order. Throws `OutOfMemory` if the right-hand sides do not fit in memory. See
/// `detail::prepare` for the checks.
Problem load_problem(HostContext& context, const Config& config);

/// The largest |a_ij − a_ji| that `symmetrize: average` has removed from the matrices, relative to
/// their largest entries. None where it did not read a matrix.
struct RemovedAsymmetry {
  std::optional<double> matrix{};
  std::optional<double> mass{};
};

/// The two steps of `load_problem`. Between them, `settle_method` may choose the method. `begun`: a
/// problem with those matrices that have been made already. `removed`, if it is not null, receives
/// what symmetrisation has changed.
Problem read_problem(HostContext& context, const Config& config, Problem begun = {},
                     RemovedAsymmetry* removed = nullptr);
void prepare_problem(HostContext& context, Problem& problem, const Config& config,
                     const Monitor& monitor = {});

/// The matrices of `config` if each of `processes` processes can make its own rows of them, or read
/// them, see `detail::suits_own_rows`.
std::optional<detail::MatricesByRows> matrices_by_rows(const Config& config, int processes);

/// Throws the exception that `with_named_sources` describes.
[[noreturn]] void refuse(const Config& config, const ProblemError& error);

/// Calls body() and translates errors of the drivers library to the user's terms. A `ProblemError`
/// becomes an `InputError` with the file name, or a `ConfigError` at the key of a generated matrix.
/// A `RequestError` becomes a `ConfigError` at the key.
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
