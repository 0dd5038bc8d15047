#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spgemm/band/schedule.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>

namespace heddle {
namespace {

/// A copy of a vector in the memory of the context.
template <class Value, class Ctx>
Buffer<Value, typename Ctx::Space> stored(Ctx& context, const std::vector<Value>& values) {
  Buffer<Value, typename Ctx::Space> copy(context, values.size());
  if constexpr (std::same_as<typename Ctx::Space, HostSpace>) {
    std::copy(values.begin(), values.end(), copy.data());
  } else {
    context.copy_to_device(copy.data(), values.data(), values.size() * sizeof(Value));
    context.synchronize();
  }
  return copy;
}

bool equal(const DiaShape& A, const DiaShape& B) {
  return A.rows == B.rows && A.cols == B.cols && A.offsets == B.offsets;
}

void require_shape(const char* name, const DiaShape& given, const DiaShape& planned) {
  if (equal(given, planned)) return;
  throw InvalidArgument(fmt::format(
      "C = A B of band matrices: the plan is for {} {}x{} with {} diagonals, not for {}x{} with {}"
      "{}; make a plan for these matrices",
      name, planned.rows, planned.cols, planned.diagonals(), given.rows, given.cols,
      given.diagonals(), given.diagonals() == planned.diagonals() ? " (others)" : ""));
}

}  // namespace

template <Scalar T, class Ctx>
BandPlan<T, Ctx>::BandPlan(Ctx& context, const DiaShape& A, const DiaShape& B) : A_(A), B_(B) {
  detail::require_factors(A, B);
  detail::DiagonalPairs lists = detail::pair_diagonals(A, B);
  auto schedule = std::make_shared<detail::BandSchedule<Space>>();
  schedule->begins = stored(context, lists.begins);
  schedule->pairs = stored(context, lists.pairs);
  schedule->diagonals_A = A.diagonals();
  schedule->diagonals_B = B.diagonals();
  schedule->diagonals_C = lists.product.diagonals();
  if (!A.offsets.empty()) {
    schedule->least_shift = A.offsets.front();
    schedule->most_shift = A.offsets.back();
  }
  product_ = std::move(lists.product);
  schedule_ = std::move(schedule);
}

template <Scalar T, class Ctx>
Index BandPlan<T, Ctx>::multiplications() const noexcept {
  return A_.rows * static_cast<Index>(schedule_->pairs.size());
}

template <Scalar T, class Ctx>
DiaMatrix<T, typename Ctx::Space> BandPlan<T, Ctx>::multiply(Ctx& context, const Matrix& A,
                                                             const Matrix& B) const {
  Matrix C(context, product_);
  update(context, A, B, C, 0, product_.rows);
  return C;
}

template <Scalar T, class Ctx>
void BandPlan<T, Ctx>::update(Ctx& context, const Matrix& A, const Matrix& B, Matrix& C,
                              Index first, Index last) const {
  require_shape("A", A.shape(), A_);
  require_shape("B", B.shape(), B_);
  require_shape("C", C.shape(), product_);
  if (first < 0 || last > product_.rows || first > last) {
    throw InvalidArgument(
        fmt::format("C = A B of band matrices: rows {} to {} are no rows of C, which has {}", first,
                    last, product_.rows));
  }
  if (first == last || C.size() == 0) return;
  const detail::BandProduct<T> product{.A = A.values(),
                                       .B = B.values(),
                                       .C = C.values(),
                                       .ld_A = A.ld(),
                                       .ld_B = B.ld(),
                                       .ld_C = C.ld(),
                                       .inner = B_.rows,
                                       .diagonals = product_.diagonals(),
                                       .begins = schedule_->begins.data(),
                                       .pairs = schedule_->pairs.data()};
  detail::multiply_bands<T>(context, *schedule_, product, first, last);
  const auto rows = static_cast<double>(last - first);
  const auto moved = static_cast<double>(A_.diagonals() + B_.diagonals() + product_.diagonals());
  context.profile().count(rows * moved * sizeof(T),
                          2 * rows * static_cast<double>(schedule_->pairs.size()));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BandPlan<T, Ctx>;
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
DiaMatrix<T, DeviceSpace> place(CudaContext& context, const HostDiaMatrix<T>& A) {
  DiaMatrix<T, DeviceSpace> placed(context, A.shape());
  context.copy_to_device(placed.values(), A.values(), A.size() * sizeof(T));
  context.synchronize();
  return placed;
}

template <Scalar T>
HostDiaMatrix<T> fetch(CudaContext& context, HostContext& host,
                       const DiaMatrix<T, DeviceSpace>& A) {
  HostDiaMatrix<T> fetched(host, A.shape());
  context.copy_to_host(fetched.values(), A.values(), A.size() * sizeof(T));
  return fetched;
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template DiaMatrix<T, DeviceSpace> place(CudaContext&, const HostDiaMatrix<T>&); \
  template HostDiaMatrix<T> fetch(CudaContext&, HostContext&, const DiaMatrix<T, DeviceSpace>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#endif

}  // namespace heddle
