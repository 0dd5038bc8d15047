#include <cstdlib>
#include <heddle/linalg/context/launcher.hpp>
#include <string_view>

namespace heddle::detail {
namespace {

/// Empty if the variable is unset.
std::optional<int> number(const char* name) noexcept {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : std::optional<int>(std::atoi(text));
}

}  // namespace

std::optional<int> launched_processes() noexcept {
  // Of Open MPI, and of launchers that speak PMI, as those of MPICH and some of Slurm do.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const auto size = number(name)) return size;
  }
  if (!number("PMIX_RANK") && !number("PMI_RANK")) return 1;
  // PMIx has no variable for the number. That of Slurm counts the daemons of launchers other than
  // srun, and one part of a heterogeneous job.
  const char* const job = std::getenv("PMIX_NAMESPACE");
  const bool by_srun = job != nullptr && std::string_view(job).starts_with("slurm.");
  return by_srun && !number("SLURM_HET_SIZE") ? number("SLURM_STEP_NUM_TASKS") : std::nullopt;
}

std::string cannot_join(int launched, const std::string& reason) {
  return "a launcher started " + std::to_string(launched) + " processes, but " + reason +
         ", or start one process";
}

}  // namespace heddle::detail
