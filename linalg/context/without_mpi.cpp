#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/launcher.hpp>
#include <heddle/linalg/context/processes.hpp>

namespace heddle {

std::shared_ptr<Processes> started_processes() {
  const int launched = detail::launched_processes().value_or(1);
  if (launched <= 1) return nullptr;
  throw DeviceError(
      detail::cannot_join(launched, "this build has no MPI: build with HEDDLE_MPI=ON"));
}

}  // namespace heddle
