#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>

namespace heddle::detail {

std::string no_parts_reason(Index, Index) {
  return "this build has no METIS: build with HEDDLE_METIS=ON";
}

template <Scalar T>
std::vector<std::int32_t> graph_parts(const CsrView<T, HostSpace>& A,
                                      const std::vector<std::int32_t>&, int) {
  throw InvalidArgument(no_parts_reason(A.rows, A.nnz));
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template std::vector<std::int32_t> graph_parts(const CsrView<T, HostSpace>&, \
                                                 const std::vector<std::int32_t>&, int);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
