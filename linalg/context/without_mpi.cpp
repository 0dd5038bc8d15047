#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/mpi_processes.hpp>
#include <string>

namespace heddle {

std::shared_ptr<Processes> started_processes() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const size = std::getenv(name);
    if (size == nullptr || std::atoi(size) <= 1) continue;
    throw DeviceError(std::string("a launcher started ") + size +
                      " processes, but this build has no MPI: build with HEDDLE_MPI=ON, or start "
                      "one process");
  }
  return nullptr;
}

}  // namespace heddle
