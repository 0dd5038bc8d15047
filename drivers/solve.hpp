#pragma once

#include <heddle/apps/device.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>
#include <variant>

/// From a problem in host memory to its solution there, in the precision and on the device
/// that the configuration asks for.
namespace heddle::apps {

/// Eigenvectors, singular vectors of a side or the solution on the host, in as many first columns
/// as there are residuals.
using HostVectors = std::variant<MultiVector<float, HostSpace>, MultiVector<double, HostSpace>>;

/// What a solve gave.
struct Solution {
  Summary result;
  HostVectors vectors;       ///< the right ones of singular triplets
  HostVectors left_vectors;  ///< of singular triplets, else empty
  std::string spmm_kernel;   ///< that multiplied A by the block, and why
  std::string spmm_reason;
  PreconditionerCost preconditioner;
  double setup_seconds = 0;
  double solve_seconds = 0;
  Profile profile;             ///< of the device, over setup and solve
  std::size_t peak_bytes = 0;  ///< of the device's memory that the run held at once
};

/// Solves `input`, which it uses up. Matrices and blocks move to the device once, the vectors
/// back once (in mixed precision: for each of its two solves).
Solution solve_problem(Device& device, ProblemInput<double> input, const Config& config,
                       const Monitor& monitor);

}  // namespace heddle::apps
