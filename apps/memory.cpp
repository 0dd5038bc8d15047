#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/eigensolver.hpp>
#include <heddle/apps/memory.hpp>
#include <heddle/apps/preconditioner_plan.hpp>

namespace heddle::apps {
namespace {

double as_double(Index count) { return static_cast<double>(count); }

/// The bytes of each part of a solve in scalars of `scalar_size` bytes.
class SolveBytes {
 public:
  SolveBytes(const EigenInput<double>& input, const Config& config, std::size_t scalar_size)
      : input_(input),
        config_(config),
        plan_(plan_preconditioner(config, input.B.has_value())),
        scalar_(static_cast<double>(scalar_size)) {}

  double matrix(Index nnz) const {
    return as_double(nnz) * (scalar_ + sizeof(std::int32_t)) +
           as_double(input_.order() + 1) * sizeof(std::int64_t);
  }
  double columns(Index count) const {
    return as_double(input_.order()) * as_double(count) * scalar_;
  }

  /// A, B, constraints and initial guess.
  double input() const {
    return matrix(input_.nnz()) + (input_.B ? matrix(input_.B->nnz()) : 0) +
           columns(input_.constraints.cols() + input_.initial_guess.cols());
  }

  double solver() const {
    return solver_memory_bytes(config_, input_.order(), input_.constraints.cols(),
                               input_.B.has_value(), static_cast<std::size_t>(scalar_));
  }

  /// Chebyshev's matrix, which stores all of the diagonal; none for others.
  double polynomial_matrix() const {
    if (plan_.type != PreconditionerChoice::chebyshev) return 0;
    return matrix((plan_.of_mass ? input_.B->nnz() : input_.nnz()) + input_.order());
  }

  /// Chebyshev keeps a matrix, three blocks and a diagonal, Jacobi a diagonal.
  double preconditioner() const {
    if (plan_.type == PreconditionerChoice::none) return 0;
    if (plan_.type == PreconditionerChoice::jacobi) return columns(1);
    const Index block = solver_block_size(config_, input_.order(), input_.constraints.cols());
    return polynomial_matrix() + columns(3 * block + 1);
  }

  double solve() const { return input() + solver() + preconditioner(); }

  /// What the kernels of a GPU keep beside the matrices, at most: panels of tiles, split points.
  double plans() const { return input() + polynomial_matrix(); }

  /// Copies that pass through the host when a preconditioner for a GPU is made there.
  double detour() const { return matrix(input_.nnz()) + 2 * polynomial_matrix(); }

 private:
  const EigenInput<double>& input_;
  const Config& config_;
  PreconditionerPlan plan_;
  double scalar_;
};

MemoryEstimate estimate_on_gpu(const SolveBytes& exact, const SolveBytes& rounded,
                               const Config& config) {
  const Index nev = config.solver.nev;
  const auto device = [](const SolveBytes& bytes) { return bytes.solve() + bytes.plans(); };
  const auto host = [&](const SolveBytes& bytes) { return bytes.detour() + bytes.columns(nev); };
  switch (config.precision) {
    case Precision::full:
      return {device(exact), exact.input() + host(exact)};
    case Precision::single:
      return {device(rounded), rounded.input() + std::max(exact.input(), host(rounded))};
    case Precision::mixed:
      return {device(exact) + exact.columns(nev),
              exact.input() + rounded.input() + host(exact) + rounded.columns(nev)};
  }
  return {};
}

MemoryEstimate estimate_on_host(const SolveBytes& exact, const SolveBytes& rounded,
                                const Config& config) {
  double bytes = 0;
  switch (config.precision) {
    case Precision::full:
      bytes = exact.solve();
      break;
    case Precision::single:
      bytes = std::max(exact.input() + rounded.input(), rounded.solve());
      break;
    case Precision::mixed: {
      const double passed_on =
          exact.columns(config.solver.nev) + rounded.columns(config.solver.nev);
      bytes = std::max(exact.input() + rounded.solve(), exact.solve() + passed_on);
      break;
    }
  }
  return {bytes, bytes};
}

}  // namespace

MemoryEstimate estimate_memory(const EigenInput<double>& input, const Config& config, bool on_gpu) {
  const SolveBytes exact(input, config, sizeof(double));
  const SolveBytes rounded(input, config, sizeof(float));
  return on_gpu ? estimate_on_gpu(exact, rounded, config)
                : estimate_on_host(exact, rounded, config);
}

void check_memory(const MemoryEstimate& estimate, const Device& device) {
  require_memory(estimate.device, device.memory_bytes(),
                 device.is_host() ? "this machine" : device.name());
  if (!device.is_host()) require_memory(estimate.host, host_memory_bytes(), "this machine");
}

void require_memory(double bytes, double available, std::string_view owner) {
  if (bytes <= available) return;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw OutOfMemory(static_cast<std::size_t>(bytes),
                    fmt::format("the solve needs {:.0f} bytes ({:.1f} GiB) of memory, {} has "
                                "{:.0f} ({:.1f} GiB): ask for fewer eigenpairs or a smaller block",
                                bytes, bytes / kGiB, owner, available, available / kGiB));
}

}  // namespace heddle::apps
