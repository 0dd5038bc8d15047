#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <heddle/apps/memory.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/solvers/lobpcg.hpp>

namespace heddle::apps {
namespace {

/// Chebyshev keeps a matrix and three blocks of its own, Jacobi a vector.
double preconditioner_bytes(const EigenInput<double>& input, const Config& config,
                            std::size_t scalar_size) {
  const PreconditionerPlan plan = plan_preconditioner(config, input.B.has_value());
  const double vector = static_cast<double>(input.order()) * static_cast<double>(scalar_size);
  if (plan.type == PreconditionerChoice::none) return 0;
  if (plan.type == PreconditionerChoice::jacobi) return vector;
  const Index block = lobpcg_block_size(config.solver, input.order(), input.constraints.cols());
  const Index nnz = plan.of_mass ? input.B->nnz() : input.nnz();
  return static_cast<double>(nnz) * static_cast<double>(scalar_size + sizeof(std::int32_t)) +
         (3 * static_cast<double>(block) + 2) * vector;
}

}  // namespace

double estimated_bytes(const EigenInput<double>& input, const Config& config) {
  const auto solve_bytes = [&](std::size_t scalar_size) {
    return lobpcg_memory_bytes(config.solver, input.order(), input.constraints.cols(),
                               input.B.has_value(), scalar_size) +
           preconditioner_bytes(input, config, scalar_size);
  };
  const double rounded = input.bytes() * 2 / 3;  // values halve, indices do not
  switch (config.precision) {
    case Precision::full:
      return input.bytes() + solve_bytes(sizeof(double));
    case Precision::single:
      return input.bytes() + rounded + solve_bytes(sizeof(float));
    case Precision::mixed: {
      const double passed_on =
          static_cast<double>(input.order() * config.solver.nev) * (sizeof(float) + sizeof(double));
      return input.bytes() + std::max(rounded + solve_bytes(sizeof(float)),
                                      passed_on + solve_bytes(sizeof(double)));
    }
  }
  return 0;
}

void check_memory(double bytes) {
  const double available =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= available) return;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw OutOfMemory(static_cast<std::size_t>(bytes),
                    fmt::format("the solve needs {:.0f} bytes ({:.1f} GiB) of memory, this machine "
                                "has {:.1f} GiB: ask for fewer eigenpairs or a smaller block",
                                bytes, bytes / kGiB, available / kGiB));
}

}  // namespace heddle::apps
