#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <limits>
#include <string>

namespace heddle {
namespace {

std::string shape(Index rows, Index cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

}  // namespace

void check_csr_shape(Index rows, Index cols, Index nnz) {
  if (rows < 0 || cols < 0 || nnz < 0) {
    throw InvalidArgument("CsrMatrix: negative size: " + shape(rows, cols) + " with " +
                          std::to_string(nnz) + " entries");
  }
  constexpr Index kMostCols = std::numeric_limits<std::int32_t>::max();
  if (cols > kMostCols) {
    throw InvalidArgument("CsrMatrix: " + std::to_string(cols) + " columns, but 32-bit indices " +
                          "can name no more than " + std::to_string(kMostCols));
  }
  constexpr Index kMost = std::numeric_limits<Index>::max() / 16;
  if (rows > kMost || nnz > kMost) {
    throw InvalidArgument("CsrMatrix: " + shape(rows, cols) + " with " + std::to_string(nnz) +
                          " entries does not fit into 64-bit offsets");
  }
}

}  // namespace heddle
