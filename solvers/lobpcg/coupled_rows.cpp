#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/coupled_rows.hpp>
#include <type_traits>
#include <vector>

namespace heddle::detail {
namespace {

/// An entry a_ij couples rows i and j from this share of (a_ii a_jj)^½ on.
constexpr double kCoupling = 0.1;

/// A row is in a mask from this value on.
constexpr double kIn = 0.5;

/// The entries of A, relative to (a_ii a_jj)^½.
template <Scalar T>
class RelativeEntries {
 public:
  /// `roots` (n×1) becomes a_ii^½, 0 where that is not positive. It must outlive this object.
  RelativeEntries(const CsrView<T, HostSpace>& A, BlockView<T, HostSpace> roots)
      : A_(A), roots_(roots) {
    for (Index i = 0; i < A.rows; ++i) {
      roots_(i, 0) = 0;
      for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
        if (A.columns[e] == i && A.values[e] > 0) roots_(i, 0) = std::sqrt(A.values[e]);
      }
    }
  }

  /// Whether entry e of row i couples this row with another one, by this size.
  bool couples(Index i, std::int64_t e, T size) const {
    const Index j = A_.columns[e];
    return size > 0 && j != i && size > static_cast<T>(kCoupling) * roots_(i, 0) * roots_(j, 0);
  }

  /// Whether a positive entry couples row i with another one.
  bool is_coupled(Index i) const {
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e) {
      if (couples(i, e, A_.values[e])) return true;
    }
    return false;
  }

  /// Whether an entry of any sign couples row i with one in which `mask` is at least a half.
  bool meets(Index i, BlockView<T, HostSpace> mask) const {
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e) {
      if (mask(A_.columns[e], 0) >= kIn && couples(i, e, std::abs(A_.values[e]))) return true;
    }
    return false;
  }

  /// Sets `mask` to 1 in row i and in those that it is coupled with.
  void mark(Index i, BlockView<T, HostSpace> mask) const {
    mask(i, 0) = 1;
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e) {
      if (couples(i, e, std::abs(A_.values[e]))) mask(A_.columns[e], 0) = 1;
    }
  }

 private:
  const CsrView<T, HostSpace>& A_;
  BlockView<T, HostSpace> roots_;
};

}  // namespace

template <Scalar T, class Ctx>
void mark_coupled_rows([[maybe_unused]] const LinearOperator<T, Ctx>& A,
                       [[maybe_unused]] double most,
                       [[maybe_unused]] BlockView<T, typename Ctx::Space> scratch,
                       [[maybe_unused]] BlockView<T, typename Ctx::Space> mask) {
  // The phases of complex entries leave no signs to tell such motions by.
  if constexpr (RealScalar<T> && std::is_same_v<typename Ctx::Space, HostSpace>) {
    if (A.stored() == nullptr || A.stored()->is_distributed()) return;
    const Index n = A.stored()->own.rows;
    const auto limit = static_cast<Index>(most * static_cast<double>(n));
    const RelativeEntries<T> entries(A.stored()->own, scratch);
    Index coupled = 0, last = -1;
    for (Index i = 0; i < n && coupled <= limit; ++i) {
      if (!entries.is_coupled(i)) continue;
      ++coupled;
      last = i;
    }
    if (coupled > limit) return;
    for (Index i = 0; i <= last; ++i) {
      if (entries.is_coupled(i)) entries.mark(i, mask);
    }
  }
}

template <Scalar T, class Ctx>
void join_coupled_rows([[maybe_unused]] const LinearOperator<T, Ctx>& A,
                       [[maybe_unused]] BlockView<T, typename Ctx::Space> scratch,
                       [[maybe_unused]] BlockView<T, typename Ctx::Space> mask) {
  if constexpr (RealScalar<T> && std::is_same_v<typename Ctx::Space, HostSpace>) {
    if (A.stored() == nullptr || A.stored()->is_distributed()) return;
    const RelativeEntries<T> entries(A.stored()->own, scratch);
    std::vector<Index> joined;
    for (Index i = 0; i < A.stored()->own.rows; ++i) {
      if (mask(i, 0) < kIn && entries.meets(i, mask)) joined.push_back(i);
    }
    for (const Index i : joined) mask(i, 0) = 1;
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                               \
  template void mark_coupled_rows<T, Ctx>(const LinearOperator<T, Ctx>&, double, \
                                          BlockView<T, typename Ctx::Space>,     \
                                          BlockView<T, typename Ctx::Space>);    \
  template void join_coupled_rows<T, Ctx>(const LinearOperator<T, Ctx>&,         \
                                          BlockView<T, typename Ctx::Space>,     \
                                          BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
