#pragma once

#include <heddle/apps/config/combinations.hpp>
#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/solve/team_calls.hpp>
#include <optional>

/// The matrices and blocks that a configuration names: loaded or generated, transformed, checked.
namespace heddle::apps {

/// The largest |a_ij − conj(a_ji)| that `symmetrize: average` has removed from the matrices,
/// relative to their largest entries. None where it did not read a matrix.
struct RemovedAsymmetry {
  std::optional<double> matrix{};
  std::optional<double> mass{};
  std::optional<double> geometric_stiffness{};
};

/// Whether a matrix or block that `config` names is complex: its file says so, or its structure is.
/// Fetches matrices of the collection that are missing. Throws as `collection_file` and
/// `standard_input_file`.
bool is_complex(const Config& config);

/// Loads and transforms the matrices and blocks that `config` names. Throws `InputError` with the
/// file name if a file cannot be read or does not fit. Throws `ConfigError` for errors of the
/// configuration, such as a structure that cannot be generated or used, or a row of a unit vector
/// beyond the order. Throws `OutOfMemory` if the right-hand sides do not fit in memory. `begun`: a
/// problem with those matrices that have been made already. `removed`, if it is not null, receives
/// what symmetrisation has changed.
/// A complex T takes real matrices and blocks, too. It refuses keys whose data are real by
/// `ConfigError`: Laplacians of graphs, geometric stiffness, near null vectors, coordinates.
template <Scalar T = double>
HostProblem<T> read_problem(HostContext& context, const Config& config, HostProblem<T> begun = {},
                            RemovedAsymmetry* removed = nullptr);

/// The matrices of `config` if processes may get their rows without the whole, see
/// `detail::own_rows_of`.
std::optional<detail::NamedMatrices> matrices_by_rows(const Config& config);

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
