#pragma once

#include <heddle/solvers/problem/checkpoint.hpp>

namespace heddle {

/// Throws `InputError` if `options.file` is not fit for the solve:
/// - without `resume`, if the file exists, since a checkpoint or anything else would be lost;
/// - with `resume`, if it is missing or not a checkpoint;
/// - in both cases, if it cannot be written.
/// Does nothing if `options.file` is empty.
void check_checkpoint_file(const CheckpointOptions& options);

}  // namespace heddle
