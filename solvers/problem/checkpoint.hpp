#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace heddle {

/// Where a solve keeps what it needs to go on after it was stopped: by its monitor, a limit, or
/// with its process. A solve that goes on gives the bits that it would have given without the stop,
/// on the same kind of device and, with `SpmmOptions::kernel` "measure", by the same kernels.
///
/// The file holds the state at the head of an iteration and takes about as many bytes as the blocks
/// of the solver. It is replaced as a whole or not at all, by way of FILE.part beside it, and
/// removed when the solve converges.
struct CheckpointOptions {
  std::filesystem::path file;  ///< empty: no checkpoint is kept
  double every_s = 300;        ///< seconds between two; one more is written at a stop
  /// Begin where `file` says. Throws `InputError` if it is missing, damaged, or of a solve that
  /// differs in anything but `max_iterations` and `time_limit_s`. Iterations count on, time limits
  /// begin anew.
  bool resume = false;
  /// What else must be the same, as "name: value": things that a solver cannot see, such as the
  /// file of A or the kind of preconditioner.
  std::vector<std::string> identity{};
  /// Called with the reason where a checkpoint cannot be written; the solve goes on, and the one
  /// before it stays. Empty: the solve ends with `InputError`.
  std::function<void(const std::string&)> on_failure{};
};

}  // namespace heddle
