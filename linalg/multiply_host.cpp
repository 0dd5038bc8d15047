#include <fmt/format.h>

#include <array>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/host_parallel.hpp>
#include <heddle/linalg/host_simd.hpp>
#include <utility>

namespace heddle {
namespace {

/// Rows of X and of the result worked on at a time, sized to stay in the first two levels of cache.
constexpr Index kPanelBytes = 32 * 1024;
constexpr Index kMinPanelRows = 32;
constexpr Index kMaxPanelRows = 256;

/// out[r, j] = Σ_k x[r, k] c[k, j] for kRows rows and kVectors vectors of columns.
template <class T, int kRows, int kVectors>
void multiply_tile(Index a, const T* x, Index x_ld, const T* c, Index c_ld, T* out) {
  Vector<T> sum[kRows][kVectors] = {};
  for (Index k = 0; k < a; ++k, c += c_ld) {
    Vector<T> c_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) c_row[j] = load(c + j * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[r][j] += x[r * x_ld + k] * c_row[j];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store<T>(out + r * c_ld + j * kLanes<T>, sum[r][j]);
  }
}

template <class T>
using MultiplyTile = void (*)(Index, const T*, Index, const T*, Index, T*);

template <class T, int... kIndex>
constexpr std::array<MultiplyTile<T>, sizeof...(kIndex)> multiply_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {multiply_tile<T, kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// multiply_tile<T, r, v> is element (r − 1)·kTileVectors + v − 1.
template <class T>
constexpr auto kMultiplyTiles =
    multiply_tiles<T>(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// out = X C for a panel of rows; c and out have rows of c_ld, whole vectors.
template <class T>
void multiply_panel(Index rows, Index a, const T* x, Index x_ld, const T* c, Index c_ld, T* out) {
  const Index vectors = c_ld / kLanes<T>;
  Index first = 0;
  for (Index tiles = (vectors + kTileVectors - 1) / kTileVectors; tiles > 0; --tiles) {
    const Index width = (vectors - first + tiles - 1) / tiles;
    const Index column = first * kLanes<T>;
    for (Index r = 0; r < rows; r += kTileRows) {
      const Index tile_rows = std::min<Index>(kTileRows, rows - r);
      kMultiplyTiles<T>[static_cast<std::size_t>((tile_rows - 1) * kTileVectors + width - 1)](
          a, x + r * x_ld, x_ld, c + column, c_ld, out + r * c_ld + column);
    }
    first += width;
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

}  // namespace

template <Scalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  if (X.rows() != Y.rows() || C.rows != X.cols() || C.cols != Y.cols()) {
    throw InvalidArgument(fmt::format("multiply: Y = X C with X {}x{}, C {}x{}, Y {}x{}", X.rows(),
                                      X.cols(), C.rows, C.cols, Y.rows(), Y.cols()));
  }
  if (Y.empty()) return;
  const Index n = X.rows();
  const Index a = X.cols();
  const Index b = Y.cols();
  const Index c_ld = round_up_to_lanes<T>(b);
  const Index panel_rows =
      std::clamp(kPanelBytes / static_cast<Index>(sizeof(T)) / (a + c_ld) / kTileRows * kTileRows,
                 kMinPanelRows, kMaxPanelRows);
  T* c = static_cast<T*>(context.scratch(
      sizeof(T) * static_cast<std::size_t>((a + context.threads() * panel_rows) * c_ld)));
  T* products = c + a * c_ld;
  for (Index k = 0; k < a; ++k) {
    for (Index j = 0; j < b; ++j) c[k * c_ld + j] = static_cast<T>(alpha * C(k, j));
    std::fill(c + k * c_ld + b, c + (k + 1) * c_ld, T{0});
  }
  // A panel's product is complete before any of it is written: Y may lie over X.
  parallel_for(context, (n + panel_rows - 1) / panel_rows, [&](Index panel) {
    const Index first = panel * panel_rows;
    const Index rows = std::min(panel_rows, n - first);
    T* product = products + omp_get_thread_num() * panel_rows * c_ld;
    multiply_panel(rows, a, X.data() + first * X.ld(), X.ld(), c, c_ld, product);
    write_panel(rows, b, product, c_ld, static_cast<T>(beta), Y.data() + first * Y.ld(), Y.ld());
  });
  const double columns = static_cast<double>(a + (beta == 0 ? b : 2 * b));
  context.profile().count(static_cast<double>(n) * columns * sizeof(T),
                          2 * static_cast<double>(n) * static_cast<double>(a * b));
}

template void multiply(HostContext&, double, ConstBlockView<float, HostSpace>,
                       ConstSmallView<HostSpace>, double, BlockView<float, HostSpace>);
template void multiply(HostContext&, double, ConstBlockView<double, HostSpace>,
                       ConstSmallView<HostSpace>, double, BlockView<double, HostSpace>);

}  // namespace heddle
