#include <atomic>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/invert_normal.hpp>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// Whether the processes of the context hold the rows of A together.
template <Scalar T, class Ctx>
bool is_shared(const Ctx& context, const DistributedCsrView<T, typename Ctx::Space>& A) {
  return A.is_distributed() && context.processes() != nullptr;
}

/// The mean of the usable |d_i|, of a distributed A those of all processes. 1 if there is none.
template <Scalar T, class Ctx>
double mean_size(Ctx& context, const DistributedCsrView<T, typename Ctx::Space>& A,
                 std::span<const T> d) {
  double mean = 0;  // updated as a mean, because a sum of large entries could overflow
  double count = 0;
  for (const T& value : d) {
    const RealOf<T> size = std::abs(value);
    if (std::isnormal(size)) mean += (static_cast<double>(size) - mean) / ++count;
  }
  if (is_shared<T>(context, A)) {
    double total = count;
    context.processes()->sum({&total, 1});
    if (total > 0) mean *= count / total;
    context.processes()->sum({&mean, 1});
    count = total;
  }
  return count > 0 ? mean : 1;
}

template <Scalar T>
T inverse_of(double size, bool root) noexcept {
  return static_cast<RealOf<T>>(root ? std::sqrt(1 / size) : 1 / size);
}

/// 1/|d_i|, with `root` its square root. Entries that need a replacement, see the header, are seen
/// to on the host.
template <Scalar T, class Ctx, class Space = typename Ctx::Space>
Buffer<T, Space> inverted(Ctx& context, DistributedCsrView<T, Space> A, bool root) {
  Buffer<T, Space> there = extract_diagonal(context, A.own);
  Buffer<T, Space> inverse(context, there.size());
  const bool unusable = !invert_normal(context, there, root, inverse);
  if (!(is_shared<T>(context, A) ? context.agree(unusable) : unusable)) return inverse;
  HostContext beside(1);
  Buffer<T, HostSpace> diagonal = fetch(context, beside, std::move(there));
  const std::span<T> d(diagonal.data(), diagonal.size());
  const double mean = mean_size<T>(context, A, d);
  for (T& value : d) {
    const RealOf<T> size = std::abs(value);
    value = inverse_of<T>(std::isnormal(size) ? static_cast<double>(size) : mean, root);
  }
  return place(context, std::move(diagonal));
}

}  // namespace

template <Scalar T>
bool invert_normal(HostContext& context, const Buffer<T, HostSpace>& d, bool root,
                   Buffer<T, HostSpace>& inverse) {
  std::atomic<bool> usable = true;
  const auto n = static_cast<Index>(d.size());
  const int threads = team_size(context.threads(), 2 * static_cast<double>(n) * sizeof(T), 0);
  parallel_for(threads, n, [&](Index i) {
    const RealOf<T> size = std::abs(d.data()[i]);
    if (!std::isnormal(size)) usable.store(false, std::memory_order_relaxed);
    inverse.data()[i] = inverse_of<T>(static_cast<double>(size), root);
  });
  return usable;
}

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx& context,
                                                DistributedCsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, false);
}

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx& context,
                                                     DistributedCsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, true);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                               \
  template Buffer<T, typename Ctx::Space> inverse_diagonal(      \
      Ctx&, DistributedCsrView<T, typename Ctx::Space>);         \
  template Buffer<T, typename Ctx::Space> inverse_root_diagonal( \
      Ctx&, DistributedCsrView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
