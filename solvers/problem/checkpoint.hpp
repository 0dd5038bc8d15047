#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace heddle {

/// The checkpoint of a solve: a file from which a later solve can resume after the first one was
/// stopped by its monitor or by a limit, or was killed with its process. A resumed solve gives the
/// same bits as a solve that was never stopped, on the same kind of device and, with
/// `SpmmOptions::kernel` "measure", if the same kernels are chosen.
///
/// The file holds the state at the beginning of an iteration and takes about as many bytes as the
/// blocks of the solver. A new checkpoint is first written to FILE.part in the same directory and
/// then renamed, so that the file is replaced as a whole or not at all. The file is deleted when
/// the solve converges.
struct CheckpointOptions {
  std::filesystem::path file;  ///< empty: no checkpoint is kept
  double every_s = 300;        ///< seconds between checkpoints. A stop writes another one
  /// Whether to resume from the state in `file`. Throws `InputError` if the file is missing,
  /// damaged, or belongs to a solve that differs in anything but `max_iterations` and
  /// `time_limit_s`. The iteration count continues. The time limit starts anew.
  bool resume = false;
  /// Further facts that must be the same when the solve resumes, as "name: value". For facts that a
  /// solver cannot see, such as the file of A or the kind of preconditioner.
  std::vector<std::string> identity{};
  /// Called with the reason if a checkpoint cannot be written. The solve then continues, and the
  /// previous checkpoint is kept. If this function is empty, the solve throws `InputError` instead.
  std::function<void(const std::string&)> on_failure{};
};

/// Throws `InputError` if `options.file` is not fit for the solve:
/// - without `resume`, if the file exists, since a checkpoint or anything else would be lost;
/// - with `resume`, if it is missing or not a checkpoint;
/// - in both cases, if it cannot be written.
/// Does nothing if `options.file` is empty.
void check_checkpoint_file(const CheckpointOptions& options);

}  // namespace heddle
