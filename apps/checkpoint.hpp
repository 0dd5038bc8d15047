#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/drivers/problem.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The checkpoint of a run: `checkpoint` in the configuration and --resume.
namespace heddle::apps {

/// Completes `config.solver.checkpoint` with --resume and with all that must be the same in a run
/// that goes on and that a solver cannot see: the numbers of the matrices and blocks, the
/// preconditioner, the kind of device, the kernel. Checkpoints that cannot be written are warned
/// of. Throws `ConfigError` for --resume where the configuration keeps no checkpoint and for a file
/// that the run writes its results to (`outputs`, in the output folder), `InputError` for a file
/// that cannot be begun with.
void prepare_checkpoint(Config& config, bool resume, const Problem& input,
                        const ProblemFacts& problem, const std::vector<std::string_view>& outputs);

/// What to do with the file that a run left, a line; empty where it left none.
std::string checkpoint_hint(const CheckpointOptions& checkpoint);

}  // namespace heddle::apps
