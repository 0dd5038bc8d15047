#pragma once

#include <fmt/format.h>

#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/spgemm.hpp>

/// The member functions of `SpgemmPlan`, the same for every backend. A backend has a
/// `ProductSchedule` and the three steps below for its context, and instantiates the plan.
namespace heddle {

namespace detail {

/// Counts the rows of C = A B and prepares the steps below. Sets counts.nnz and
/// counts.multiplications.
template <Scalar T>
std::shared_ptr<const ProductSchedule<HostSpace>> inspect_product(HostContext& context,
                                                                  CsrView<T, HostSpace> A,
                                                                  CsrView<T, HostSpace> B,
                                                                  SpgemmCounts& counts);
template <Scalar T>
std::shared_ptr<const ProductSchedule<DeviceSpace>> inspect_product(CudaContext& context,
                                                                    CsrView<T, DeviceSpace> A,
                                                                    CsrView<T, DeviceSpace> B,
                                                                    SpgemmCounts& counts);

/// The row offsets of C in host memory.
void fetch_offsets(HostContext& context, const ProductSchedule<HostSpace>& schedule,
                   Index* row_offsets);
void fetch_offsets(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                   Index* row_offsets);

/// The arrays of C in the memory of a context.
template <class T>
struct ProductArrays {
  Index nnz = 0;
  std::int64_t* row_offsets = nullptr;
  std::int32_t* columns = nullptr;
  T* values = nullptr;
};

/// Writes the row offsets of C and its columns, except for those that `compute_values` writes with
/// the values.
template <Scalar T>
void fill_pattern(HostContext& context, const ProductSchedule<HostSpace>& schedule,
                  CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const ProductArrays<T>& C);
template <Scalar T>
void fill_pattern(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                  CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C);

/// Writes the values of C, and with `with_columns` the columns that `fill_pattern` has left out.
template <Scalar T>
void compute_values(HostContext& context, const ProductSchedule<HostSpace>& schedule,
                    CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const ProductArrays<T>& C,
                    bool with_columns);
template <Scalar T>
void compute_values(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                    CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C,
                    bool with_columns);

/// Bytes of the arrays of a matrix.
template <class T, class Space>
double stored_bytes(const CsrView<T, Space>& A) noexcept {
  return static_cast<double>(A.nnz) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows + 1) * sizeof(std::int64_t);
}

/// Adds a product to the profile of the context, see `SpgemmPlan::multiply`.
template <class T, class Ctx>
void count_product(Ctx& context, const CsrView<T, typename Ctx::Space>& A,
                   const CsrView<T, typename Ctx::Space>& B, const SpgemmCounts& counts) {
  const CsrView<T, typename Ctx::Space> C{.rows = counts.rows, .nnz = counts.nnz};
  context.profile().count(stored_bytes(A) + stored_bytes(B) + stored_bytes(C),
                          2 * static_cast<double>(counts.multiplications));
}

}  // namespace detail

template <Scalar T, class Ctx>
SpgemmPlan<T, Ctx>::SpgemmPlan(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B)
    : nnz_A_(A.nnz), nnz_B_(B.nnz), inner_(A.cols) {
  detail::require_factors(A, B);
  counts_.rows = A.rows;
  counts_.cols = B.cols;
  schedule_ = detail::inspect_product(context, A, B, counts_);
}

template <Scalar T, class Ctx>
void SpgemmPlan<T, Ctx>::fetch_row_offsets(Ctx& context, Index* row_offsets) const {
  detail::fetch_offsets(context, *schedule_, row_offsets);
}

template <Scalar T, class Ctx>
CsrMatrix<T, typename Ctx::Space> SpgemmPlan<T, Ctx>::multiply(Ctx& context, CsrView<T, Space> A,
                                                               CsrView<T, Space> B) const {
  require_planned(A, B);
  CsrMatrix<T, Space> C(context, counts_.rows, counts_.cols, counts_.nnz);
  multiply_into(context, A, B, C.row_offsets(), C.columns(), C.values());
  return C;
}

template <Scalar T, class Ctx>
void SpgemmPlan<T, Ctx>::multiply_into(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B,
                                       std::int64_t* row_offsets, std::int32_t* columns,
                                       T* values) const {
  require_planned(A, B);
  detail::fill_pattern<T>(context, *schedule_, A, B, {counts_.nnz, row_offsets, columns, values});
  compute(context, A, B, row_offsets, columns, values, true);
}

template <Scalar T, class Ctx>
void SpgemmPlan<T, Ctx>::update(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B,
                                CsrMatrix<T, Space>& C) const {
  require_planned(A, B);
  if (C.rows() != counts_.rows || C.cols() != counts_.cols || C.nnz() != counts_.nnz) {
    throw InvalidArgument(fmt::format(
        "C = A B: C is {}x{} with {} entries, the plan's is {}x{} with {}; update takes what "
        "multiply returned",
        C.rows(), C.cols(), C.nnz(), counts_.rows, counts_.cols, counts_.nnz));
  }
  compute(context, A, B, C.row_offsets(), C.columns(), C.values(), false);
}

template <Scalar T, class Ctx>
void SpgemmPlan<T, Ctx>::require_planned(const CsrView<T, Space>& A,
                                         const CsrView<T, Space>& B) const {
  if (A.rows == counts_.rows && A.cols == inner_ && A.nnz == nnz_A_ && B.rows == inner_ &&
      B.cols == counts_.cols && B.nnz == nnz_B_) {
    return;
  }
  throw InvalidArgument(fmt::format(
      "C = A B: the plan is for A {}x{} with {} entries and B {}x{} with {}, not for A {}x{} with "
      "{} and B {}x{} with {}; make a plan for these matrices",
      counts_.rows, inner_, nnz_A_, inner_, counts_.cols, nnz_B_, A.rows, A.cols, A.nnz, B.rows,
      B.cols, B.nnz));
}

template <Scalar T, class Ctx>
void SpgemmPlan<T, Ctx>::compute(Ctx& context, const CsrView<T, Space>& A,
                                 const CsrView<T, Space>& B, std::int64_t* row_offsets,
                                 std::int32_t* columns, T* values, bool with_columns) const {
  detail::compute_values<T>(context, *schedule_, A, B, {counts_.nnz, row_offsets, columns, values},
                            with_columns);
  detail::count_product(context, A, B, counts_);
}

}  // namespace heddle
