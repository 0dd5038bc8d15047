#include <fmt/format.h>

#include <array>
#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/host_parallel.hpp>
#include <heddle/linalg/host_simd.hpp>
#include <heddle/linalg/small_dense.hpp>
#include <utility>

namespace heddle {
namespace {

/// Rows of X and of the result worked on at a time, sized to stay in the first two levels of cache.
constexpr Index kPanelBytes = 32 * 1024;
constexpr Index kMinPanelRows = 32;
constexpr Index kMaxPanelRows = 256;

/// Products with fewer multiplications than this are not worth waking the other threads.
constexpr Index kSerialProducts = 500'000;

/// A matrix whose entry (i, j) is data[i·row_stride + j·col_stride].
template <class T>
struct Strided {
  const T* data;
  Index row_stride;
  Index col_stride;

  const T& operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

/// out[r, j] = Σ_k x(r, k) c[k, j] for kRows rows and kVectors vectors of columns.
template <class T, int kRows, int kVectors>
void multiply_tile(Index a, Strided<T> x, const T* c, Index c_ld, T* out) {
  Vector<T> sum[kRows][kVectors] = {};
  for (Index k = 0; k < a; ++k, c += c_ld, x.data += x.col_stride) {
    Vector<T> c_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) c_row[j] = load(c + j * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[r][j] += x.data[r * x.row_stride] * c_row[j];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store<T>(out + r * c_ld + j * kLanes<T>, sum[r][j]);
  }
}

template <class T>
using MultiplyTile = void (*)(Index, Strided<T>, const T*, Index, T*);

template <class T, int... kIndex>
constexpr std::array<MultiplyTile<T>, sizeof...(kIndex)> multiply_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {multiply_tile<T, kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// multiply_tile<T, r, v> is element (r − 1)·kTileVectors + v − 1.
template <class T>
constexpr auto kMultiplyTiles =
    multiply_tiles<T>(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// out = X C for rows first … end − 1 of X; c and out have rows of c_ld, whole vectors.
template <class T>
void multiply_panel(Index first, Index end, Index a, const Strided<T>& X, const T* c, Index c_ld,
                    T* out) {
  const Index vectors = c_ld / kLanes<T>;
  Index vector = 0;
  for (Index tiles = (vectors + kTileVectors - 1) / kTileVectors; tiles > 0; --tiles) {
    const Index width = (vectors - vector + tiles - 1) / tiles;
    const Index column = vector * kLanes<T>;
    for (Index r = first; r < end; r += kTileRows) {
      const Index rows = std::min<Index>(kTileRows, end - r);
      kMultiplyTiles<T>[static_cast<std::size_t>((rows - 1) * kTileVectors + width - 1)](
          a, {&X(r, 0), X.row_stride, X.col_stride}, c + column, c_ld,
          out + (r - first) * c_ld + column);
    }
    vector += width;
  }
}

/// y ← product + β y for a panel of rows.
template <class T>
void write_panel(Index rows, Index b, const T* product, Index product_ld, T beta, T* y,
                 Index y_ld) {
  for (Index r = 0; r < rows; ++r, product += product_ld, y += y_ld) {
    if (beta == 0) {
      std::copy_n(product, b, y);
    } else {
      for (Index j = 0; j < b; ++j) y[j] = product[j] + beta * y[j];
    }
  }
}

/// Y = α X C + β Y for X n×a, C a×b and row-major Y n×b. Y may lie over X row by row.
template <class T>
void multiply_rows(HostContext& context, Index n, Index a, Index b, double alpha,
                   const Strided<T>& X, const Strided<double>& C, T beta, T* y, Index y_ld) {
  const Index c_ld = round_up_to_lanes<T>(b);
  const Index panel_rows =
      std::clamp(kPanelBytes / static_cast<Index>(sizeof(T)) / (a + c_ld) / kTileRows * kTileRows,
                 kMinPanelRows, kMaxPanelRows);
  const int threads = n * a * b < kSerialProducts ? 1 : context.threads();
  T* c = static_cast<T*>(context.scratch(
      sizeof(T) * static_cast<std::size_t>((a + context.threads() * panel_rows) * c_ld)));
  T* products = c + a * c_ld;
  for (Index k = 0; k < a; ++k) {
    for (Index j = 0; j < b; ++j) c[k * c_ld + j] = static_cast<T>(alpha * C(k, j));
    std::fill(c + k * c_ld + b, c + (k + 1) * c_ld, T{0});
  }
  // A panel's product is complete before any of it is written: Y may lie over X.
  parallel_for(threads, (n + panel_rows - 1) / panel_rows, [&](Index panel) {
    const Index first = panel * panel_rows;
    const Index end = std::min(first + panel_rows, n);
    T* product = products + omp_get_thread_num() * panel_rows * c_ld;
    multiply_panel(first, end, a, X, c, c_ld, product);
    write_panel(end - first, b, product, c_ld, beta, y + first * y_ld, y_ld);
  });
}

}  // namespace

template <Scalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  require_multiply_shapes(X, C, Y);
  if (Y.empty()) return;
  multiply_rows<T>(context, X.rows(), X.cols(), Y.cols(), alpha, {X.data(), X.ld(), 1},
                   {C.data, 1, C.ld}, static_cast<T>(beta), Y.data(), Y.ld());
  context.profile().count(bytes(X) + (beta == 0 ? 1 : 2) * bytes(Y),
                          2 * entries(X) * static_cast<double>(Y.cols()));
}

void small_multiply(HostContext& context, double alpha, ConstSmallView<HostSpace> A,
                    bool transpose_a, ConstSmallView<HostSpace> B, bool transpose_b, double beta,
                    SmallView<HostSpace> C) {
  const Index inner = transpose_a ? A.rows : A.cols;
  if ((transpose_a ? A.cols : A.rows) != C.rows || (transpose_b ? B.cols : B.rows) != inner ||
      (transpose_b ? B.rows : B.cols) != C.cols) {
    throw InvalidArgument(
        fmt::format("small_multiply: C = op(A) op(B) with A {}x{}{}, B {}x{}{}, C {}x{}", A.rows,
                    A.cols, transpose_a ? " transposed" : "", B.rows, B.cols,
                    transpose_b ? " transposed" : "", C.rows, C.cols));
  }
  // The columns of C are the rows of Cᵀ = op(B)ᵀ op(A)ᵀ, row-major.
  const Strided<double> B_rows =
      transpose_b ? Strided<double>{B.data, 1, B.ld} : Strided<double>{B.data, B.ld, 1};
  const Strided<double> A_rows =
      transpose_a ? Strided<double>{A.data, 1, A.ld} : Strided<double>{A.data, A.ld, 1};
  if (C.rows == 0 || C.cols == 0) return;
  multiply_rows<double>(context, C.cols, inner, C.rows, alpha, B_rows, A_rows, beta, C.data, C.ld);
}

template void multiply(HostContext&, double, ConstBlockView<float, HostSpace>,
                       ConstSmallView<HostSpace>, double, BlockView<float, HostSpace>);
template void multiply(HostContext&, double, ConstBlockView<double, HostSpace>,
                       ConstSmallView<HostSpace>, double, BlockView<double, HostSpace>);

}  // namespace heddle
