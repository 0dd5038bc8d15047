#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/linalg/base/available_memory.hpp>
#include <mutex>

namespace heddle::detail {
namespace {

/// A solve that needs less than this is begun without asking the system for its memory, which may
/// take longer than the solve.
constexpr double kAlwaysThere = 1 << 26;

/// The copies of a matrix in a process that gathers its rows.
constexpr double kCopies = 3;

double as_double(Index count) { return static_cast<double>(count); }

/// The bytes of each part of a solve in scalars of `scalar_size` bytes.
class SolveBytes {
 public:
  SolveBytes(const Facts& facts, const Request& request, const PreconditionerPlan& plan,
             std::size_t scalar_size)
      : facts_(facts),
        request_(request),
        method_(method_of(request, facts.sizes())),
        scalar_(static_cast<double>(scalar_size)),
        preconditioner_(preconditioner_bytes(plan)) {}

  double matrix(Index nnz) const { return matrix(nnz, facts_.order()); }
  double matrix(Index nnz, Index rows) const {
    return as_double(nnz) * (scalar_ + sizeof(std::int32_t)) +
           as_double(rows + 1) * sizeof(std::int64_t);
  }
  /// The bytes of `count` vectors that A multiplies.
  double columns(Index count) const { return block(facts_.A.cols, count); }

  /// The bytes of the vectors of the result. For singular triplets: of both sides.
  double vectors() const {
    const Index count = method_.result_columns(request_, facts_.sizes());
    return columns(count) + (method_.both_sides ? block(facts_.order(), count) : 0);
  }

  /// The bytes of A and B.
  double matrices() const {
    return matrix(facts_.A.nnz) + (facts_.B.given ? matrix(facts_.B.nnz) : 0);
  }

  /// The bytes of A, Aᵀ, B and the blocks of the problem.
  double input() const {
    return matrices() + (facts_.normal_equations ? matrix(facts_.A.nnz, facts_.A.cols) : 0) +
           columns(facts_.constraints.cols + facts_.initial_guess.cols +
                   facts_.sizes().null_vectors) +
           block(facts_.order(), facts_.rhs.cols) +
           as_double(facts_.near_null.rows() * facts_.near_null.cols()) * sizeof(double);
  }

  /// The bytes of these that process 0 has for all processes until it has sent them.
  double sent() const {
    if (!facts_.own_rows) return input();
    return columns(facts_.constraints.cols + facts_.initial_guess.cols +
                   (facts_.own_rhs ? 0 : facts_.rhs.cols));
  }

  /// The bytes of the problem that process 0 has before it sends them.
  double held() const { return sent() + (input() - sent()) / facts_.processes; }

  double solver() const {
    const double bytes =
        method_.memory_bytes(request_, facts_.sizes(), static_cast<std::size_t>(scalar_)) +
        inverse_of_mass();
    // With factors, a process works with all rows, of which it gets copies.
    if (facts_.processes == 1 || !counts_by_factors(request_)) return bytes;
    return facts_.processes * std::max(bytes + matrices(), kCopies * matrices());
  }

  double solve() const {
    return input() + std::max(solver() + preconditioner_.kept, preconditioner_.setup);
  }

  /// An upper bound of the bytes that GPU kernels keep in addition to the matrices, such as panels
  /// of tiles and split points.
  double plans() const {
    // In single precision, `staged` keeps a format for narrow and one for wide blocks.
    const double formats = scalar_ == sizeof(float) ? 2 : 1;
    return formats * input() + preconditioner_.matrix;
  }

  /// The bytes of copies in host memory while a preconditioner for a GPU is computed on the host.
  double detour() const { return matrix(facts_.A.nnz) + 2 * preconditioner_.matrix; }

 private:
  double block(Index rows, Index count) const {
    return as_double(rows) * as_double(count) * scalar_;
  }

  /// The bytes of the inner solver for B in block Lanczos.
  double inverse_of_mass() const {
    if (request_.method != Method::block_lanczos || !facts_.B.given) return 0;
    if (facts_.diagonal_mass) return columns(1);
    const Index block = method_.block_size(request_, facts_.sizes());
    return columns(1) +
           block_cg_memory_bytes(facts_.order(), block, static_cast<std::size_t>(scalar_));
  }

  PreconditionerBytes preconditioner_bytes(const PreconditionerPlan& plan) const {
    if (plan.kind == nullptr) return {};
    const bool of_mass = plan.matrix == PreconditionedMatrix::B;
    const PreconditionerSizes sizes = {.rows = facts_.A.cols,
                                       .nnz = of_mass ? facts_.B.nnz : facts_.A.nnz,
                                       .block = method_.block_size(request_, facts_.sizes()),
                                       .scalar_size = static_cast<std::size_t>(scalar_)};
    return plan.lowered ? plan.kind->lowered_bytes(sizes, plan.options)
                        : plan.kind->bytes(sizes, plan.options);
  }

  const Facts& facts_;
  const Request& request_;
  const MethodKind& method_;
  double scalar_;
  PreconditionerBytes preconditioner_;
};

MemoryEstimate estimate_on_gpu(const SolveBytes& exact, const SolveBytes& rounded,
                               const Request& request, int processes) {
  const auto device = [processes](const SolveBytes& bytes) {
    return (bytes.solve() + bytes.plans()) / processes;
  };
  const auto host = [&](const SolveBytes& bytes) { return bytes.detour() + bytes.vectors(); };
  switch (request.precision) {
    case Precision::full:
      return {device(exact), exact.held() + host(exact)};
    case Precision::single:
      return {device(rounded), rounded.held() + std::max(exact.held(), host(rounded))};
    case Precision::mixed:
      return {device(exact) + exact.vectors(),
              exact.held() + rounded.held() + host(exact) + rounded.vectors()};
  }
  return {};
}

MemoryEstimate estimate_on_host(const SolveBytes& exact, const SolveBytes& rounded,
                                const Request& request, int processes) {
  double bytes = 0;
  switch (request.precision) {
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
  // Until it has sent them, process 0 holds the rows of others in addition to its own.
  if (processes > 1) bytes = exact.sent() + bytes / processes;
  return {bytes, bytes};
}

}  // namespace

MemoryEstimate estimate_memory(const Facts& facts, const Request& request,
                               const PreconditionerPlan& plan, bool on_gpu) {
  const SolveBytes exact(facts, request, plan, facts.number_bytes());
  const SolveBytes rounded(facts, request, plan, sizeof(float));
  return on_gpu ? estimate_on_gpu(exact, rounded, request, facts.processes)
                : estimate_on_host(exact, rounded, request, facts.processes);
}

void check_memory(const MemoryEstimate& estimate, const Request& request, const Machine& machine) {
  const std::string_view advice =
      is_eigensolver(request.method) ? kFewerPairs : kFewerRightHandSides;
  if (machine.on_gpu) {
    require_memory(estimate.device, machine.memory_bytes, machine.name,
                   fmt::format("{}, or solve on more GPUs", advice));
  }
  require_host_memory(estimate.host, advice);
}

void require_host_memory(double bytes, std::string_view advice) {
  if (bytes <= kAlwaysThere) return;
  const AvailableMemory available = available_memory();
  require_memory(bytes, available.bytes, available.owner, advice);
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

double host_memory_bytes() {
  // The options of one solve ask several times within milliseconds. To answer, some 14 files of the
  // system are read, and the answer changes only with what other processes use.
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kHolds(10);
  static std::mutex asking;
  static double bytes = 0;
  static Clock::time_point outdated;
  const std::lock_guard lock(asking);
  if (const Clock::time_point now = Clock::now(); now >= outdated) {
    bytes = available_memory().bytes;
    outdated = now + kHolds;
  }
  return bytes;
}

double memory_bytes(const HostContext&) { return host_memory_bytes(); }

double factor_budget(double memory, double unused, double solver) noexcept {
  return std::max(0.0, std::min(kFactorShare * memory, unused - solver));
}

double unused_bytes(const HostContext& context) {
  return available_memory().unused + static_cast<double>(context.kept_bytes());
}

#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context) {
  return static_cast<double>(context.free_bytes());
}

double unused_bytes(const CudaContext& context) { return memory_bytes(context); }
#endif

}  // namespace heddle::detail
