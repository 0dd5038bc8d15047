#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <string>

namespace heddle::detail {

void refuse_shared_rows(const RowRange& rows, const RowRange& columns) {
  throw InvalidArgument("a whole matrix is needed, processes share this one of " +
                        std::to_string(rows.global) + "x" + std::to_string(columns.global) +
                        ": this process has " + std::to_string(rows.local) + " rows from row " +
                        std::to_string(rows.first + 1) + " on");
}

void refuse_whole_matrix(Index rows, Index cols) {
  throw InvalidArgument(
      "a matrix that processes share is needed, this process holds the whole of "
      "this one of " +
      std::to_string(rows) + "x" + std::to_string(cols));
}

}  // namespace heddle::detail
