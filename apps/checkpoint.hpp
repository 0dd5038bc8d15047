#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/drivers/problem/problem.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The checkpoint of a run: `checkpoint` in the configuration and --resume.
namespace heddle::apps {

/// Completes `config.solver.checkpoint` with --resume and with everything that must be the same in
/// a resumed run and that a solver cannot check itself: the numbers of the matrices and blocks, the
/// preconditioner, the kind of device, and the kernel. Warns if checkpoints cannot be written.
/// Throws `ConfigError` for --resume without a checkpoint in the configuration, and if the
/// checkpoint file is also a results file (`outputs`, in the output folder). Throws `InputError`
/// for a checkpoint file that the run cannot start from.
template <Scalar T>
void prepare_checkpoint(Config& config, bool resume, const HostProblem<T>& input,
                        const ProblemFacts& problem, const std::vector<std::string_view>& outputs);

/// One line that explains how to use the checkpoint file of a run. Empty if the run left none.
std::string checkpoint_hint(const CheckpointOptions& checkpoint);

}  // namespace heddle::apps
