#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/band/schedule.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>
#include <utility>

namespace heddle {
namespace {

constexpr Index kWordBits = 64;

/// Rows that a thread takes at a time, a multiple of a word's.
constexpr Index kSlabRows = 64 * kWordBits;

/// Calls begin(first row, end) and then visit(entry, i, diagonal number) for all entries of slabs
/// of rows.
template <class T, class Begin, class Visit>
void for_each_entry(HostContext& context, const CsrView<T, HostSpace>& A, const DiaShape& shape,
                    const Begin& begin, const Visit& visit) {
  std::atomic<bool> beside{shape.rows != A.rows || shape.cols != A.cols};
  const Slabs slabs{beside ? 0 : A.rows, kSlabRows};
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    begin(slabs.begin(slab), slabs.end(slab));
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      auto at = shape.offsets.begin();
      for (Index e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e, ++at) {
        const Index d = A.columns[e] - i;
        if (at != shape.offsets.end() && *at < d) at = std::lower_bound(at, shape.offsets.end(), d);
        if (at == shape.offsets.end() || *at != d) {
          beside = true;
          return;
        }
        visit(e, i, at - shape.offsets.begin());
      }
    }
  });
  if (beside) {
    throw InvalidArgument(fmt::format(
        "a {}x{} matrix has entries off the {} diagonals of a {}x{} matrix that were given", A.rows,
        A.cols, shape.diagonals(), shape.rows, shape.cols));
  }
}

}  // namespace

template <Scalar T>
DiaShape dia_shape(HostContext& context, CsrView<T, HostSpace> A) {
  std::vector<char> present(static_cast<std::size_t>(A.rows + A.cols), 0);
  const Slabs slabs{A.rows, kSlabRows};
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
        const std::atomic_ref<char> flag(
            present[static_cast<std::size_t>(A.columns[e] - i + A.rows)]);
        if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
      }
    }
  });
  DiaShape shape{A.rows, A.cols, {}};
  for (Index d = -A.rows; d < A.cols; ++d) {
    if (present[static_cast<std::size_t>(d + A.rows)] != 0) shape.offsets.push_back(d);
  }
  return shape;
}

template <Scalar T>
HostDiaMatrix<T> dia_from_csr(HostContext& context, CsrView<T, HostSpace> A, DiaShape shape) {
  HostDiaMatrix<T> result(context, std::move(shape));
  const Index diagonals = result.shape().diagonals();
  const auto clear = [&](Index first, Index last) {
    for (Index k = 0; k < diagonals; ++k) {
      std::fill(result.values() + (k * result.ld() + first),
                result.values() + (k * result.ld() + last), T{0});
    }
  };
  for_each_entry(context, A, result.shape(), clear, [&](Index e, Index i, Index k) {
    result.values()[k * result.ld() + i] = A.values[e];
  });
  for (Index k = 0; k < diagonals; ++k) {
    std::fill(result.values() + (k * result.ld() + A.rows), result.values() + (k + 1) * result.ld(),
              T{0});
  }
  return result;
}

DiaPattern::DiaPattern(DiaShape shape)
    : shape_(std::move(shape)),
      words_((shape_.rows + kWordBits - 1) / kWordBits),
      bits_(static_cast<std::size_t>(words_ * shape_.diagonals())) {}

std::uint64_t DiaPattern::bits_from(Index diagonal, Index row) const noexcept {
  const auto word_or_none = [&](Index w) {
    return w >= 0 && w < words_ ? word(diagonal, w) : std::uint64_t{0};
  };
  const Index w = row >= 0 ? row / kWordBits : -((kWordBits - 1 - row) / kWordBits);
  const Index from = row - w * kWordBits;
  const std::uint64_t low = word_or_none(w) >> from;
  return from == 0 ? low : low | word_or_none(w + 1) << (kWordBits - from);
}

Index DiaPattern::nnz() const noexcept {
  Index count = 0;
  for (const std::uint64_t bits : bits_) count += std::popcount(bits);
  return count;
}

template <Scalar T>
DiaPattern dia_pattern(HostContext& context, CsrView<T, HostSpace> A, DiaShape shape) {
  DiaPattern pattern(std::move(shape));
  const auto nothing = [](Index, Index) {};
  for_each_entry(context, A, pattern.shape(), nothing, [&](Index, Index i, Index k) {
    pattern.word(k, i / kWordBits) |= std::uint64_t{1} << (i % kWordBits);
  });
  return pattern;
}

DiaPattern product_pattern(HostContext& context, const DiaPattern& A, const DiaPattern& B) {
  detail::require_factors(A.shape(), B.shape());
  detail::DiagonalPairs lists = detail::pair_diagonals(A.shape(), B.shape());
  DiaPattern C(std::move(lists.product));
  parallel_for(context.threads(), C.shape().diagonals(), [&](Index c) {
    for (Index n = lists.begins[static_cast<std::size_t>(c)];
         n < lists.begins[static_cast<std::size_t>(c) + 1]; ++n) {
      const detail::DiagonalPair& pair = lists.pairs[static_cast<std::size_t>(n)];
      for (Index w = 0; w < C.words(); ++w) {
        C.word(c, w) |= A.word(pair.A, w) & B.bits_from(pair.B, w * kWordBits + pair.shift);
      }
    }
  });
  return C;
}

template <Scalar T>
HostCsrMatrix<T> csr_from_dia(HostContext& context, const HostDiaMatrix<T>& A,
                              const DiaPattern& pattern) {
  const DiaShape& shape = A.shape();
  if (pattern.shape().rows != shape.rows || pattern.shape().cols != shape.cols ||
      pattern.shape().offsets != shape.offsets) {
    throw InvalidArgument(fmt::format(
        "the pattern is of a {}x{} matrix with {} diagonals, the matrix is {}x{} with {}",
        pattern.shape().rows, pattern.shape().cols, pattern.shape().diagonals(), shape.rows,
        shape.cols, shape.diagonals()));
  }
  HostCsrMatrix<T> result(context, shape.rows, shape.cols, pattern.nnz());
  // Calls visit(i, diagonal number) for the entries of 64 rows, by ascending diagonal.
  const auto for_each_of_word = [&](Index w, const auto& visit) {
    for (Index k = 0; k < shape.diagonals(); ++k) {
      for (std::uint64_t bits = pattern.word(k, w); bits != 0; bits &= bits - 1) {
        visit(w * kWordBits + std::countr_zero(bits), k);
      }
    }
  };
  Index* const offsets = result.row_offsets();
  std::fill_n(offsets, shape.rows + 1, Index{0});
  parallel_for(context.threads(), pattern.words(),
               [&](Index w) { for_each_of_word(w, [&](Index i, Index) { ++offsets[i + 1]; }); });
  for (Index i = 0; i < shape.rows; ++i) offsets[i + 1] += offsets[i];
  parallel_for(context.threads(), pattern.words(), [&](Index w) {
    Index next[kWordBits];
    const Index first = w * kWordBits;
    std::copy_n(offsets + first, std::min(kWordBits, shape.rows - first), next);
    for_each_of_word(w, [&](Index i, Index k) {
      const Index place = next[i - first]++;
      result.columns()[place] =
          static_cast<std::int32_t>(i + shape.offsets[static_cast<std::size_t>(k)]);
      result.values()[place] = A.values()[k * A.ld() + i];
    });
  });
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template DiaShape dia_shape(HostContext&, CsrView<T, HostSpace>);                      \
  template HostDiaMatrix<T> dia_from_csr(HostContext&, CsrView<T, HostSpace>, DiaShape); \
  template DiaPattern dia_pattern(HostContext&, CsrView<T, HostSpace>, DiaShape);        \
  template HostCsrMatrix<T> csr_from_dia(HostContext&, const HostDiaMatrix<T>&, const DiaPattern&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
