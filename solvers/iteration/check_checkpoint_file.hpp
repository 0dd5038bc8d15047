#pragma once

#include <heddle/solvers/problem/checkpoint.hpp>

namespace heddle {

/// Throws `InputError` for a file that a solve must not begin with: without `resume` one that is
/// there, be it a checkpoint that would be lost or anything else; with `resume` one that is missing
/// or no checkpoint; in both cases one that cannot be written.
void check_checkpoint_file(const CheckpointOptions& options);

}  // namespace heddle
