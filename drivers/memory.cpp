#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/memory.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/solver_options.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>

namespace heddle::apps {
namespace {

/// Bytes a row of what the level orders of a triangle and of its transpose keep beside the
/// matrices: row numbers and flags.
constexpr double kLevelOrderBytes = 16;

double as_double(Index count) { return static_cast<double>(count); }

/// The bytes of each part of a solve in scalars of `scalar_size` bytes.
class SolveBytes {
 public:
  SolveBytes(const ProblemInput<double>& input, const Config& config, std::size_t scalar_size)
      : input_(input),
        config_(config),
        plan_(plan_preconditioner(config, input.B.has_value())),
        scalar_(static_cast<double>(scalar_size)) {}

  double matrix(Index nnz) const { return matrix(nnz, input_.order()); }
  double matrix(Index nnz, Index rows) const {
    return as_double(nnz) * (scalar_ + sizeof(std::int32_t)) +
           as_double(rows + 1) * sizeof(std::int64_t);
  }
  /// Of vectors that A multiplies.
  double columns(Index count) const { return block(input_.A.cols(), count); }

  /// What the solve gives: of singular triplets the vectors of both sides.
  double vectors() const {
    const Index count = result_columns(config_, input_.sizes());
    return columns(count) + (finds_triplets(config_) ? block(input_.order(), count) : 0);
  }

  /// A, Aᵀ, B, and the blocks beside them.
  double input() const {
    return matrix(input_.nnz()) + (input_.B ? matrix(input_.B->nnz()) : 0) +
           (input_.A_transposed ? matrix(input_.nnz(), input_.A_transposed->rows()) : 0) +
           columns(input_.constraints.cols() + input_.initial_guess.cols()) +
           block(input_.order(), input_.rhs.cols());
  }

  double solver() const {
    const ProblemSizes sizes = input_.sizes();
    const auto scalar_size = static_cast<std::size_t>(scalar_);
    return solver_memory_bytes(config_, sizes, scalar_size) + inverse_of_mass();
  }

  /// The matrix that a preconditioner stores: Chebyshev's has all of the diagonal, block Jacobi's
  /// no more entries than A unless its blocks are given, an incomplete factor is two triangles.
  double preconditioner_matrix() const {
    const Index nnz = plan_.matrix == PreconditionedMatrix::B ? input_.B->nnz() : input_.nnz();
    switch (plan_.type) {
      case PreconditionerChoice::chebyshev:
      case PreconditionerChoice::incomplete_cholesky:
        return matrix(nnz + input_.order());
      case PreconditionerChoice::block_jacobi:
        return matrix(plan_.block_size == 0 ? nnz : input_.order() * plan_.block_size);
      case PreconditionerChoice::jacobi:
      case PreconditionerChoice::none:
      case PreconditionerChoice::automatic:
        break;
    }
    return 0;
  }

  /// What a preconditioner stores. Beside a matrix Chebyshev keeps three blocks and a diagonal, an
  /// incomplete factor the order of the rows of each triangle, or, iterated, two blocks and a
  /// diagonal; Jacobi a diagonal.
  double preconditioner() const {
    const Index block = solver_block_size(config_, input_.sizes());
    switch (plan_.type) {
      case PreconditionerChoice::jacobi:
        return columns(1);
      case PreconditionerChoice::chebyshev:
        return preconditioner_matrix() + columns(3 * block + 1);
      case PreconditionerChoice::incomplete_cholesky:
        return preconditioner_matrix() + (plan_.triangular_solve == TriangularSolve::iterated
                                              ? columns(2 * block + 1)
                                              : as_double(input_.order()) * kLevelOrderBytes);
      case PreconditionerChoice::block_jacobi:
      case PreconditionerChoice::none:
      case PreconditionerChoice::automatic:
        break;
    }
    return preconditioner_matrix();
  }

  /// While a preconditioner is made: an incomplete factor beside its two triangles.
  double preconditioner_setup() const {
    const bool factors = plan_.type == PreconditionerChoice::incomplete_cholesky;
    return factors ? 2 * preconditioner_matrix() : 0;
  }

  double solve() const {
    return input() + std::max(solver() + preconditioner(), preconditioner_setup());
  }

  /// What the kernels of a GPU keep beside the matrices, at most: panels of tiles, split points.
  double plans() const { return input() + preconditioner_matrix(); }

  /// Copies that pass through the host when a preconditioner for a GPU is made there.
  double detour() const { return matrix(input_.nnz()) + 2 * preconditioner_matrix(); }

 private:
  double block(Index rows, Index count) const {
    return as_double(rows) * as_double(count) * scalar_;
  }

  /// Block Lanczos' solver for B.
  double inverse_of_mass() const {
    if (config_.type != SolverType::block_lanczos || !input_.B) return 0;
    if (is_diagonal(input_.B->view())) return columns(1);
    const Index block = solver_block_size(config_, input_.sizes());
    return columns(1) +
           block_cg_memory_bytes(input_.order(), block, static_cast<std::size_t>(scalar_));
  }

  const ProblemInput<double>& input_;
  const Config& config_;
  PreconditionerPlan plan_;
  double scalar_;
};

MemoryEstimate estimate_on_gpu(const SolveBytes& exact, const SolveBytes& rounded,
                               const Config& config) {
  const auto device = [](const SolveBytes& bytes) { return bytes.solve() + bytes.plans(); };
  const auto host = [&](const SolveBytes& bytes) { return bytes.detour() + bytes.vectors(); };
  switch (config.precision) {
    case Precision::full:
      return {device(exact), exact.input() + host(exact)};
    case Precision::single:
      return {device(rounded), rounded.input() + std::max(exact.input(), host(rounded))};
    case Precision::mixed:
      return {device(exact) + exact.vectors(),
              exact.input() + rounded.input() + host(exact) + rounded.vectors()};
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
      const double passed_on = exact.vectors() + rounded.vectors();
      bytes = std::max(exact.input() + rounded.solve(), exact.solve() + passed_on);
      break;
    }
  }
  return {bytes, bytes};
}

}  // namespace

MemoryEstimate estimate_memory(const ProblemInput<double>& input, const Config& config,
                               bool on_gpu) {
  const SolveBytes exact(input, config, sizeof(double));
  const SolveBytes rounded(input, config, sizeof(float));
  return on_gpu ? estimate_on_gpu(exact, rounded, config)
                : estimate_on_host(exact, rounded, config);
}

void check_memory(const MemoryEstimate& estimate, const Config& config, const Device& device) {
  const std::string_view advice = is_eigensolver(config.type) ? kFewerPairs : kFewerRightHandSides;
  require_memory(estimate.device, device.memory_bytes(),
                 device.is_host() ? "this machine" : device.name(), advice);
  if (!device.is_host()) require_memory(estimate.host, host_memory_bytes(), "this machine", advice);
}

void require_memory(double bytes, double available, std::string_view owner,
                    std::string_view advice) {
  if (bytes <= available) return;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw OutOfMemory(static_cast<std::size_t>(bytes),
                    fmt::format("the solve needs {:.0f} bytes ({:.1f} GiB) of memory, {} has "
                                "{:.0f} ({:.1f} GiB): {}",
                                bytes, bytes / kGiB, owner, available, available / kGiB, advice));
}

}  // namespace heddle::apps
