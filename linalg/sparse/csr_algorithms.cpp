#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <limits>
#include <string>

namespace heddle {
namespace {

constexpr Index kLeastRows = 1024;      // rows of a piece of work
constexpr Index kLeastEntries = 16384;  // entries of a piece of work

std::string shape(Index rows, Index cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

/// A(row, col), 0 where not stored.
template <Scalar T>
T entry(const CsrView<T, HostSpace>& A, Index row, Index col) {
  const std::int32_t* begin = A.columns + A.row_offsets[row];
  const std::int32_t* end = A.columns + A.row_offsets[row + 1];
  const std::int32_t* found = std::lower_bound(begin, end, col);
  return found != end && *found == col ? A.values[found - A.columns] : T{0};
}

bool is_nan(double a) { return std::isnan(a); }
bool is_nan(std::complex<double> a) { return std::isnan(a.real()) || std::isnan(a.imag()); }

/// |a − b| for `find_asymmetry`: 0 for equal infinities and for two NaNs, Inf if only one is NaN.
template <WideScalar W>
double difference(W a, W b) {
  if (a == b || (is_nan(a) && is_nan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

/// The entry of `symmetrize` for the pair a, b.
template <RealScalar T>
T dominant(T a, T b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (std::abs(a) == std::abs(b)) return std::max(a, b);
  return std::abs(a) > std::abs(b) ? a : b;
}

/// Calls visit(col, a, b) for the columns where row `row` of A or of B, of one shape, has an entry,
/// in ascending order, with the values of both, 0 where not stored.
template <Scalar T, class Visit>
void merge_rows(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B, Index row,
                const Visit& visit) {
  Index i = A.row_offsets[row];
  Index j = B.row_offsets[row];
  const Index end_i = A.row_offsets[row + 1];
  const Index end_j = B.row_offsets[row + 1];
  while (i < end_i || j < end_j) {
    const std::int32_t in_A = i < end_i ? A.columns[i] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t in_B = j < end_j ? B.columns[j] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t col = std::min(in_A, in_B);
    visit(col, in_A == col ? A.values[i] : T{0}, in_B == col ? B.values[j] : T{0});
    i += in_A == col;
    j += in_B == col;
  }
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> csr_from_triplets(HostContext& context, Index rows, Index cols,
                                   std::span<const Triplet<T>> triplets) {
  check_csr_shape(rows, cols, 0);
  const auto outside = std::find_if(triplets.begin(), triplets.end(), [&](const Triplet<T>& t) {
    return t.row < 0 || t.row >= rows || t.col < 0 || t.col >= cols;
  });
  if (outside != triplets.end()) {
    throw InvalidArgument("csr_from_triplets: triplet " +
                          std::to_string(outside - triplets.begin()) + " at (" +
                          std::to_string(outside->row) + ", " + std::to_string(outside->col) +
                          ") lies outside the " + shape(rows, cols) + " matrix");
  }
  const Slabs pieces = make_slabs(static_cast<Index>(triplets.size()), kLeastEntries);
  return CsrAssembler<T>(context, rows, cols).assemble(pieces.count(), [&](Index piece, auto emit) {
    for (Index k = pieces.begin(piece); k < pieces.end(piece); ++k) {
      const Triplet<T>& triplet = triplets[static_cast<std::size_t>(k)];
      emit(triplet.row, triplet.col, triplet.value);
    }
  });
}

template <Scalar T>
HostCsrMatrix<T> transpose(HostContext& context, CsrView<T, HostSpace> A) {
  const Slabs pieces = make_slabs(A.rows, kLeastRows);
  return CsrAssembler<T>(context, A.cols, A.rows)
      .assemble(pieces.count(), [&](Index piece, auto emit) {
        for (Index row = pieces.begin(piece); row < pieces.end(piece); ++row) {
          for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
            emit(A.columns[k], row, A.values[k]);
          }
        }
      });
}

template <Scalar T>
HostCsrMatrix<T> adjoint(HostContext& context, CsrView<T, HostSpace> A) {
  HostCsrMatrix<T> transposed = transpose(context, A);
  if constexpr (kComplex<T>) {
    T* const values = transposed.values();
    parallel_for(context.threads(), A.nnz, [&](Index k) { values[k] = std::conj(values[k]); });
  }
  return transposed;
}

HostCsrMatrix<double> real_form(HostContext& context, CsrView<std::complex<double>, HostSpace> A) {
  check_csr_shape(2 * A.rows, 2 * A.cols, 4 * A.nnz);
  HostCsrMatrix<double> R(context, 2 * A.rows, 2 * A.cols, 4 * A.nnz);
  R.row_offsets()[2 * A.rows] = 4 * A.nnz;
  parallel_for(context.threads(), A.rows, [&](Index row) {
    const Index first = A.row_offsets[row], length = A.row_offsets[row + 1] - first;
    const Index upper = 4 * first, lower = upper + 2 * length;  // rows 2i and 2i + 1
    R.row_offsets()[2 * row] = upper;
    R.row_offsets()[2 * row + 1] = lower;
    for (Index k = 0; k < length; ++k) {
      const std::complex<double> a = A.values[first + k];
      for (const Index place : {upper + 2 * k, lower + 2 * k}) {
        R.columns()[place] = 2 * A.columns[first + k];
        R.columns()[place + 1] = 2 * A.columns[first + k] + 1;
      }
      R.values()[upper + 2 * k] = R.values()[lower + 2 * k + 1] = a.real();
      R.values()[upper + 2 * k + 1] = -a.imag();
      R.values()[lower + 2 * k] = a.imag();
    }
  });
  return R;
}

template <Scalar T>
HostCsrMatrix<T> symmetrize(HostContext& context, CsrView<T, HostSpace> A) {
  require_square("symmetrize", Shape{A.rows, A.cols});
  const HostCsrMatrix<T> transposed = transpose(context, A);
  const CsrView<T, HostSpace> At = transposed.view();
  Buffer<Index, HostSpace> offsets(context, static_cast<std::size_t>(A.rows) + 1);
  offsets[0] = 0;
  parallel_for(context.threads(), A.rows, [&](Index row) {
    Index count = 0;
    merge_rows(A, At, row, [&](std::int32_t, T, T) { ++count; });
    offsets[static_cast<std::size_t>(row) + 1] = count;
  });
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  HostCsrMatrix<T> W(context, A.rows, A.rows, offsets[offsets.size() - 1]);
  std::copy_n(offsets.data(), offsets.size(), W.row_offsets());
  parallel_for(context.threads(), A.rows, [&](Index row) {
    Index next = offsets[static_cast<std::size_t>(row)];
    merge_rows(A, At, row, [&](std::int32_t col, T a, T b) {
      W.columns()[next] = col;
      W.values()[next++] = dominant(a, b);
    });
  });
  return W;
}

template <Scalar U, Scalar T>
HostCsrMatrix<U> convert(HostContext& context, CsrView<T, HostSpace> A) {
  HostCsrMatrix<U> converted(context, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, converted.row_offsets());
  std::int32_t* columns = converted.columns();
  U* values = converted.values();
  parallel_for(context.threads(), A.nnz, [&](Index k) {
    columns[k] = A.columns[k];
    values[k] = static_cast<U>(A.values[k]);
  });
  return converted;
}

template <Scalar T>
bool is_diagonal(CsrView<T, HostSpace> A) {
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      if (A.columns[k] != i && A.values[k] != T{0}) return false;
    }
  }
  return true;
}

// Column i below the diagonal must be row i above it. `next[i]` is the first entry of row i that no
// row so far has met in column i.
template <Scalar T>
bool equals_transpose(CsrView<T, HostSpace> A) {
  if (A.rows != A.cols) return false;
  std::vector<Index> next(static_cast<std::size_t>(A.rows));
  for (Index row = 0; row < A.rows; ++row) {
    Index k = A.row_offsets[row];
    const Index end = A.row_offsets[row + 1];
    for (; k < end && A.columns[k] < row; ++k) {
      const Index col = A.columns[k];
      const Index other = next[static_cast<std::size_t>(col)]++;
      if (other == A.row_offsets[col + 1] || A.columns[other] != row) return false;
      if (!(A.values[other] == conjugate(A.values[k]))) return false;
    }
    const bool diagonal = k < end && A.columns[k] == row;
    if (diagonal && kComplex<T> && !(A.values[k] == conjugate(A.values[k]))) return false;
    next[static_cast<std::size_t>(row)] = k + (diagonal ? 1 : 0);
  }
  return std::equal(next.begin(), next.end(), A.row_offsets + 1);
}

template <Scalar T>
std::vector<AsymmetryOf<Wide<T>>> find_asymmetry(HostContext& context, CsrView<T, HostSpace> A,
                                                 double tolerance) {
  require_square("find_asymmetry", Shape{A.rows, A.cols});
  if (equals_transpose(A)) return {};
  struct Worst {
    Index row = 0;
    Index col = 0;
    double difference = 0;
    double largest = 0;  // finite |A(i, j)|
  };
  const Slabs pieces = make_slabs(A.rows, kLeastRows);
  std::vector<Worst> worst_of(static_cast<std::size_t>(pieces.count()));
  parallel_for(context.threads(), pieces.count(), [&](Index piece) {
    Worst worst;
    for (Index row = pieces.begin(piece); row < pieces.end(piece); ++row) {
      for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
        const Wide<T> value = A.values[k];
        if (is_finite(value)) worst.largest = std::max(worst.largest, std::abs(value));
        const Index col = A.columns[k];
        const double apart = difference(value, Wide<T>(conjugate(entry(A, col, row))));
        if (apart > worst.difference) worst = {row, col, apart, worst.largest};
      }
    }
    worst_of[static_cast<std::size_t>(piece)] = worst;
  });
  Worst worst;
  double largest = 0;
  for (const Worst& candidate : worst_of) {
    largest = std::max(largest, candidate.largest);
    if (candidate.difference > worst.difference) worst = candidate;
  }
  if (!(worst.difference > tolerance * largest)) return {};
  return {{worst.row, worst.col, entry(A, worst.row, worst.col), entry(A, worst.col, worst.row)}};
}

template <Scalar T>
double largest_difference(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B) {
  double largest = 0;
  for (Index row = 0; row < A.rows; ++row) {
    merge_rows(A, B, row, [&](std::int32_t, T a, T b) {
      largest = std::max(largest, difference(Wide<T>(a), Wide<T>(b)));
    });
  }
  return largest;
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template HostCsrMatrix<T> csr_from_triplets(HostContext&, Index, Index,                        \
                                              std::span<const Triplet<T>>);                      \
  template HostCsrMatrix<T> transpose(HostContext&, CsrView<T, HostSpace>);                      \
  template HostCsrMatrix<T> adjoint(HostContext&, CsrView<T, HostSpace>);                        \
  template bool is_diagonal(CsrView<T, HostSpace>);                                              \
  template bool equals_transpose(CsrView<T, HostSpace>);                                         \
  template double largest_difference(CsrView<T, HostSpace>, CsrView<T, HostSpace>);              \
  template std::vector<AsymmetryOf<Wide<T>>> find_asymmetry(HostContext&, CsrView<T, HostSpace>, \
                                                            double);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> symmetrize(HostContext&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(To, From) \
  template HostCsrMatrix<To> convert(HostContext&, CsrView<From, HostSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
HEDDLE_INSTANTIATE(std::complex<double>, std::complex<double>)
HEDDLE_INSTANTIATE(std::complex<double>, double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
