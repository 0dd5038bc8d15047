#include <fmt/format.h>

#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
ResidentMatrix<T, Ctx>::ResidentMatrix(Index rows, Index cols, Apply apply)
    : view_{rows, cols}, apply_(std::move(apply)) {
  check_csr_shape(rows, cols, 0);
  if (!apply_) {
    throw InvalidArgument(
        fmt::format("Matrix: {} x {} without entries and without a callable", rows, cols));
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ResidentMatrix<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
