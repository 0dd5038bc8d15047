#include <fmt/format.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/numpy/npy_array.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <string>

namespace heddle {
namespace {

/// An array of numbers with rows and columns.
struct DenseArray {
  detail::NpyArray array;
  Index rows = 0;
  Index cols = 0;

  /// The place of element (i, j) in storage order.
  Index place(Index i, Index j) const noexcept {
    return i * array.strides[0] + (array.strides.size() > 1 ? j * array.strides[1] : 0);
  }
};

template <Scalar T>
DenseArray parse_dense(std::string_view bytes, std::string_view name) {
  DenseArray dense{detail::parse_npy_array(bytes, name)};
  detail::require_numbers<T>(dense.array, name);
  const auto refuse = [&](const char* reason) {
    throw InputError(std::string(name), 0,
                     fmt::format("has the shape {}, {}", describe_shape(dense.array), reason));
  };
  const Index dimensions = dense.array.dimensions();
  if (dimensions < 1 || dimensions > 2) refuse("which has not one or two dimensions");
  dense.rows = dense.array.shape[0];
  dense.cols = dimensions == 2 ? dense.array.shape[1] : 1;
  if (std::max(dense.rows, dense.cols) > detail::kMostIndices) {
    refuse("which 32-bit indices cannot name");
  }
  if (!detail::is_plausible(dense.rows, dense.array.size())) refuse("but no elements");
  return dense;
}

/// Calls visit(i, j, value) for the elements of the rows of `piece` that are finite numbers of T.
/// Returns the place of the first one that is not, −1 if there is none.
template <Scalar T, class Load, class Visit>
Index visit_rows(const DenseArray& dense, const Load& load, Index begin, Index end,
                 const Visit& visit) {
  for (Index i = begin; i < end; ++i) {
    for (Index j = 0; j < dense.cols; ++j) {
      const Index place = dense.place(i, j);
      const T value = detail::to_scalar<T>(load(place));
      if (!is_finite(value)) return place;
      visit(i, j, value);
    }
  }
  return -1;
}

}  // namespace

template <Scalar T>
MultiVector<T, HostSpace> parse_npy_block(HostContext& context, std::string_view bytes,
                                          std::string_view name) {
  const DenseArray dense = parse_dense<T>(bytes, name);
  MultiVector<T, HostSpace> block(context, dense.rows, dense.cols);
  const BlockView<T, HostSpace> X = block.view();
  std::fill_n(X.data(), dense.rows * X.ld(), T{0});
  const Slabs pieces = make_slabs(dense.rows, 1024);
  std::vector<Index> faults(static_cast<std::size_t>(pieces.count()), -1);
  detail::with_numbers<T>(dense.array, [&](auto load) {
    parallel_for(context.threads(), pieces.count(), [&](Index piece) {
      faults[static_cast<std::size_t>(piece)] =
          visit_rows<T>(dense, load, pieces.begin(piece), pieces.end(piece),
                        [&](Index i, Index j, T value) { X(i, j) = value; });
    });
  });
  for (const Index place : faults) {
    if (place >= 0) detail::refuse_number<T>(dense.array, place, name);
  }
  return block;
}

template <Scalar T>
HostCsrMatrix<T> parse_npy(HostContext& context, std::string_view bytes, std::string_view name) {
  const MultiVector<T, HostSpace> block = parse_npy_block<T>(context, bytes, name);
  const ConstBlockView<T, HostSpace> X = block.view();
  const Slabs pieces = make_slabs(X.rows(), 1024);
  return CsrAssembler<T>(context, X.rows(), X.cols())
      .assemble(pieces.count(), [&](Index piece, auto emit) {
        for (Index i = pieces.begin(piece); i < pieces.end(piece); ++i) {
          for (Index j = 0; j < X.cols(); ++j) {
            if (X(i, j) != T{0}) emit(i, j, X(i, j));
          }
        }
      });
}

#define HEDDLE_INSTANTIATE(T)                                                        \
  template MultiVector<T, HostSpace> parse_npy_block(HostContext&, std::string_view, \
                                                     std::string_view);              \
  template HostCsrMatrix<T> parse_npy(HostContext&, std::string_view, std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
