#include <metis.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <limits>

namespace heddle::detail {

std::string no_parts_reason(Index rows, Index entries) {
  constexpr auto kMost = static_cast<Index>(std::numeric_limits<idx_t>::max());
  return std::max(rows, entries) < kMost ? "" : "the matrix has more entries than METIS can count";
}

template <Scalar T>
std::vector<std::int32_t> graph_parts(const CsrView<T, HostSpace>& A,
                                      const std::vector<std::int32_t>& weights, int parts) {
  std::vector<idx_t> begins = {0}, neighbours, weight(weights.begin(), weights.end());
  begins.reserve(static_cast<std::size_t>(A.rows) + 1);
  neighbours.reserve(static_cast<std::size_t>(A.nnz));
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if (A.columns[e] != i) neighbours.push_back(A.columns[e]);
    }
    begins.push_back(static_cast<idx_t>(neighbours.size()));
  }
  idx_t rows = static_cast<idx_t>(A.rows), conditions = 1, count = parts, cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> part(static_cast<std::size_t>(A.rows));
  const int status =
      METIS_PartGraphKway(&rows, &conditions, begins.data(), neighbours.data(), weight.data(),
                          nullptr, nullptr, &count, nullptr, nullptr, options, &cut, part.data());
  if (status == METIS_ERROR_MEMORY) {
    throw OutOfMemory(neighbours.size() * sizeof(idx_t), "METIS ran out of memory");
  }
  if (status != METIS_OK) throw InvalidArgument("METIS found no partition of the matrix");
  return {part.begin(), part.end()};
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template std::vector<std::int32_t> graph_parts(const CsrView<T, HostSpace>&, \
                                                 const std::vector<std::int32_t>&, int);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
