#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace heddle {
namespace {

void require_size(std::string_view what, std::size_t size, std::string_view needed_by,
                  std::size_t needed) {
  if (size == needed) return;
  throw InvalidArgument(
      fmt::format("Matrix: {} hold {} numbers, {} take {}", what, size, needed_by, needed));
}

template <class Offset>
void check_offsets(std::span<const Offset> offsets, std::size_t entries) {
  if (offsets.front() != 0) {
    throw InvalidArgument(fmt::format("Matrix: row offsets begin with {}, not 0", offsets.front()));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] >= offsets[i - 1]) continue;
    throw InvalidArgument(fmt::format("Matrix: row {} ends at offset {}, but begins at {}", i - 1,
                                      offsets[i], offsets[i - 1]));
  }
  require_size("columns", entries, "the row offsets", static_cast<std::size_t>(offsets.back()));
}

/// Throws for the first of the columns of row i that is out of place.
template <class Column>
void refuse_columns(std::size_t i, std::span<const Column> columns, Index cols) {
  Index least = 0;
  for (const Column column : columns) {
    if (column < least || column >= cols) {
      throw InvalidArgument(
          fmt::format("Matrix: row {} has column {} where {} to {} can stand: columns ascend in "
                      "a row and are counted from 0",
                      i, column, least, cols - 1));
    }
    least = column + 1;
  }
}

template <class Offset, class Column>
void check_columns(std::span<const Offset> offsets, std::span<const Column> columns, Index cols) {
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = static_cast<std::size_t>(offsets[i]);
    const auto row = columns.subspan(begin, static_cast<std::size_t>(offsets[i + 1]) - begin);
    if (row.empty()) continue;
    bool ascending = row.front() >= 0 && row.back() < cols;
    for (std::size_t k = 1; k < row.size(); ++k) ascending &= row[k - 1] < row[k];  // in vectors
    if (!ascending) refuse_columns(i, row, cols);
  }
}

/// Blocks up to this size get memory of their own, because a result may live for long, and in the
/// memory of its context would keep a huge page of 2 MiB.
constexpr std::size_t kSmall = std::size_t{1} << 20;

/// The memory of arrays that had to be converted.
template <Scalar T>
struct Converted {
  std::vector<std::int64_t> row_offsets;
  std::vector<std::int32_t> columns;
  std::vector<T> values;
};

/// `source` itself if it has the type To, else its conversion in `storage`.
template <class To, class From>
const To* as(std::span<const From> source, std::vector<To>& storage) {
  if constexpr (std::is_same_v<To, From>) {
    return source.data();
  } else {
    storage.resize(source.size());
    std::transform(source.begin(), source.end(), storage.begin(),
                   [](From number) { return static_cast<To>(number); });
    return storage.data();
  }
}

/// Data together with the context that allocated its memory, which is destroyed after the data.
template <class Data>
struct Owned {
  std::shared_ptr<const HostContext> context;
  Data data;
};

template <class Data>
std::shared_ptr<const Owned<Data>> own(std::shared_ptr<const HostContext> context, Data data) {
  return std::make_shared<const Owned<Data>>(Owned<Data>{std::move(context), std::move(data)});
}

}  // namespace

template <Scalar T>
HostMatrix<T>::HostMatrix(HostCsrMatrix<T> A, std::shared_ptr<const HostContext> context) {
  auto owned = own(std::move(context), std::move(A));
  view_ = owned->data.view();
  owner_ = std::move(owned);
}

template <Scalar T>
HostMatrix<T>::HostMatrix(DistributedCsr<T, HostSpace> A) {
  auto owned = own(nullptr, std::move(A));
  view_ = owned->data.view();
  owner_ = std::move(owned);
}

template <Scalar T>
HostMatrix<T>::HostMatrix(DistributedCsr<T, HostSpace> A, WholeMatrix whole)
    : HostMatrix(std::move(A)) {
  whole_ = std::move(whole);
}

template <Scalar T>
double HostMatrix<T>::largest() const noexcept {
  if (whole_) return whole_->largest;
  double largest = 0;
  if constexpr (kComplex<T>) {
    for (Index k = 0; k < view_.own.nnz; ++k) {
      const double size = std::abs(view_.own.values[k]);
      largest = size > largest ? size : largest;
    }
  } else {
#pragma omp simd reduction(max : largest)
    for (Index k = 0; k < view_.own.nnz; ++k) {
      const double size = std::abs(static_cast<double>(view_.own.values[k]));
      largest = size > largest ? size : largest;
    }
  }
  return largest;
}

template <Scalar T>
void HostMatrix<T>::check_array(const char* what, const void* first, Index size) {
  if (size < 0) throw InvalidArgument(fmt::format("Matrix: {} {}: a negative number", size, what));
  if (size > 0 && first == nullptr) {
    throw InvalidArgument(fmt::format("Matrix: a null pointer stands for {} {}", size, what));
  }
}

template <Scalar T>
template <CsrIndex Offset, CsrIndex Column, Scalar Value>
void HostMatrix<T>::refer_to(std::span<const Offset> row_offsets, std::span<const Column> columns,
                             std::span<const Value> values) {
  CsrView<T, HostSpace>& view = view_.own;
  check_csr_shape(view.rows, view.cols, static_cast<Index>(columns.size()));
  require_size("row offsets", row_offsets.size(), fmt::format("{} rows", view.rows),
               static_cast<std::size_t>(view.rows) + 1);
  require_size("values", values.size(), fmt::format("{} columns", columns.size()), columns.size());
  check_offsets(row_offsets, columns.size());
  check_columns(row_offsets, columns, view.cols);
  view.nnz = static_cast<Index>(columns.size());
  auto converted = std::make_shared<Converted<T>>();
  view.row_offsets = as<std::int64_t>(row_offsets, converted->row_offsets);
  view.columns = as<std::int32_t>(columns, converted->columns);
  view.values = as<T>(values, converted->values);
  owner_ = std::move(converted);
}

template <Scalar T>
HostMatrix<T>::HostMatrix(Index rows, Index cols, Apply apply)
    : view_(CsrView<T, HostSpace>{rows, cols}), apply_(std::move(apply)) {
  check_csr_shape(rows, cols, 0);
  if (!apply_) {
    throw InvalidArgument(
        fmt::format("Matrix: {} x {} without entries and without a callable", rows, cols));
  }
}

template <Scalar T>
HostMatrix<T> HostMatrix<T>::read(const std::filesystem::path& path) {
  auto context = std::make_shared<HostContext>();
  HostCsrMatrix<T> A = read_matrix<T>(*context, path);
  context->release_kept_memory();
  return {std::move(A), std::move(context)};
}

template <Scalar T>
HostMatrix<T> HostMatrix<T>::generate(const GallerySpec& spec) {
  auto context = std::make_shared<HostContext>();
  HostCsrMatrix<T> A = heddle::generate<T>(*context, spec);
  context->release_kept_memory();
  return {std::move(A), std::move(context)};
}

template <Scalar T>
HostBlock<T>::HostBlock(MultiVector<T, HostSpace> X, std::shared_ptr<const HostContext> context) {
  const auto size = static_cast<std::size_t>(X.rows() * X.cols());
  if (context != nullptr && size * sizeof(T) <= kSmall) {
    auto copied = std::make_shared<std::vector<T>>(X.view().data(), X.view().data() + size);
    view_ = ConstBlockView<T, HostSpace>(copied->data(), X.rows(), X.cols(), X.cols());
    owner_ = std::move(copied);
    return;
  }
  auto owned = own(std::move(context), std::move(X));
  view_ = owned->data.view();
  owner_ = std::move(owned);
}

template <Scalar T>
HostBlock<T>::HostBlock(Index rows, Index cols, std::span<const T> values) {
  if (rows < 0 || cols < 0) {
    throw InvalidArgument(fmt::format("Block: negative size: {}x{}", rows, cols));
  }
  const double needed = static_cast<double>(rows) * static_cast<double>(cols);  // may exceed Index
  if (needed != static_cast<double>(values.size())) {
    throw InvalidArgument(
        fmt::format("Block: {} numbers for {} rows of {} columns, which take {:.0f}", values.size(),
                    rows, cols, needed));
  }
  view_ = ConstBlockView<T, HostSpace>(values.data(), rows, cols, cols);
}

template class HostMatrix<float>;
template class HostMatrix<double>;
template class HostMatrix<std::complex<double>>;

#define HEDDLE_INSTANTIATE_FOR(T, OFFSET, COLUMN, VALUE)                                  \
  template void HostMatrix<T>::refer_to(std::span<const OFFSET>, std::span<const COLUMN>, \
                                        std::span<const VALUE>);
#define HEDDLE_INSTANTIATE(OFFSET, COLUMN, VALUE)       \
  HEDDLE_INSTANTIATE_FOR(float, OFFSET, COLUMN, VALUE)  \
  HEDDLE_INSTANTIATE_FOR(double, OFFSET, COLUMN, VALUE) \
  HEDDLE_INSTANTIATE_FOR(std::complex<double>, OFFSET, COLUMN, VALUE)
HEDDLE_INSTANTIATE(std::int32_t, std::int32_t, float)
HEDDLE_INSTANTIATE(std::int32_t, std::int32_t, double)
HEDDLE_INSTANTIATE(std::int32_t, std::int64_t, float)
HEDDLE_INSTANTIATE(std::int32_t, std::int64_t, double)
HEDDLE_INSTANTIATE(std::int64_t, std::int32_t, float)
HEDDLE_INSTANTIATE(std::int64_t, std::int32_t, double)
HEDDLE_INSTANTIATE(std::int64_t, std::int64_t, float)
HEDDLE_INSTANTIATE(std::int64_t, std::int64_t, double)
HEDDLE_INSTANTIATE_FOR(std::complex<double>, std::int32_t, std::int32_t, std::complex<double>)
HEDDLE_INSTANTIATE_FOR(std::complex<double>, std::int32_t, std::int64_t, std::complex<double>)
HEDDLE_INSTANTIATE_FOR(std::complex<double>, std::int64_t, std::int32_t, std::complex<double>)
HEDDLE_INSTANTIATE_FOR(std::complex<double>, std::int64_t, std::int64_t, std::complex<double>)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR
template class HostBlock<float>;
template class HostBlock<double>;
template class HostBlock<std::complex<double>>;

}  // namespace heddle
