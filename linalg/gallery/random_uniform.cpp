#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// `count` distinct numbers below `bound`, every such set equally likely, ascending in `out`.
/// Source: Bentley & Floyd, A sample of brilliance, CACM 30 (1987) 754, algorithm F2.
template <class Random>
void sample_sorted(Index bound, Index count, const Random& random, std::int32_t* out) {
  std::int32_t* end = out;
  for (Index top = bound - count; top < bound; ++top) {
    auto pick = static_cast<std::int32_t>(random(top + 1));
    std::int32_t* at = std::lower_bound(out, end, pick);
    if (at != end && *at == pick) {
      pick = static_cast<std::int32_t>(top);
      at = end;
    }
    std::copy_backward(at, end, end + 1);
    *at = pick;
    ++end;
  }
}

}  // namespace

/// Row i holds ⌊(i + 1)·density⌋ − ⌊i·density⌋ entries with values uniform in (−1, 1), in columns
/// drawn without replacement.
template <Scalar T>
HostCsrMatrix<T> random_uniform(HostContext& context, const GallerySpec& spec,
                                const RowWindow& window) {
  const RowWindow rows = window.of(checked_rows(spec, static_cast<double>(spec.size.front())));
  const Index cols = checked_rows(spec, static_cast<double>(spec.size.back()));
  check_density(spec, static_cast<double>(cols), "columns");
  const auto entries_before = [&spec](Index row) {
    return static_cast<Index>(std::floor(static_cast<double>(row) * spec.density));
  };
  HostCsrMatrix<T> A = csr_with_row_lengths<T>(context, rows.rows(), cols, [&](Index i) {
    return entries_before(rows.first + i + 1) - entries_before(rows.first + i);
  });
  const Index before = entries_before(rows.first);
  const std::int64_t* const offsets = A.row_offsets();
  std::int32_t* const columns = A.columns();
  T* const values = A.values();
  parallel_for(context.threads(), rows.rows(), [&](Index i) {
    auto number = static_cast<std::uint64_t>(before + offsets[i]);
    const auto random_column = [&number, seed = spec.seed](Index bound) {
      const PhiloxBlock bits = random_block(seed, 0, number++);
      return uniform_below(bits.words[0], bits.words[1], bound);
    };
    sample_sorted(cols, offsets[i + 1] - offsets[i], random_column, columns + offsets[i]);
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const PhiloxBlock bits = random_block(spec.seed, 1, static_cast<std::uint64_t>(before + k));
      values[k] = static_cast<T>(signed_uniform(bits.words[0], bits.words[1]));
    }
  });
  return A;
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> random_uniform(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
