#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <memory>

namespace heddle {

/// The processes that mpirun, srun or another launcher started together with this one, over MPI.
/// Null if there is only this one.
///
/// Initialises MPI if a launcher started several processes and nobody else has done so. It is then
/// ended with the last copy of the pointer, which all processes must reach, or by
/// `Processes::abort`. Without a launcher, and where it started one process, MPI is not touched.
/// Throws `DeviceError` if a launcher started several processes and this build has no MPI, or MPI
/// does not find the others: each of them would solve the whole problem.
std::shared_ptr<Processes> started_processes();

}  // namespace heddle
