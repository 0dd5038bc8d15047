#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <heddle/spmm/low_precision/scaling.hpp>
#include <heddle/spmm/spmm.hpp>

/// Products whose factors are rounded to a short number type, as tensor cores compute them.
namespace heddle {

/// A read-only block by columns in the memory of `Space`: entry (i, j) is data[i + j·ld].
template <class T, class Space>
struct ColumnMajorBlock {
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;
};

/// C = A B with the values of A and B rounded to V (`Half`, `Bfloat16`, `Tf32`), to the nearest.
/// Products are exact in single precision, sums and C are in single precision. Before the rounding,
/// rows of A and columns of B are scaled as `RangeScaling` says, and C is scaled back.
template <class V, class Ctx>
class LowPrecisionPlan;

template <class V>
class LowPrecisionPlan<V, HostContext> {
 public:
  /// Rounds A. Keeps nothing of A itself. Throws `InvalidArgument` as `row_exponents`,
  /// `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(HostContext& context, CsrView<T, HostSpace> A,
                   RangeScaling scaling = RangeScaling::powers_of_two);

  /// C = A B with B cols×N and C rows×N. The result has the same bits for every number of threads.
  /// Allocates for more columns than before. A plan serves one call at a time. Throws
  /// `InvalidArgument` if shapes do not fit, as `column_exponents`, and with the place of the first
  /// entry of C that single precision cannot hold.
  template <Scalar T>
  void multiply(HostContext& context, ConstBlockView<T, HostSpace> B,
                BlockView<float, HostSpace> C);

  /// The same for a B by columns, which is first copied by rows.
  template <Scalar T>
  void multiply(HostContext& context, const ColumnMajorBlock<T, HostSpace>& B,
                BlockView<float, HostSpace> C);

  /// A row of A was scaled by 2^e with its e here.
  const std::vector<std::int32_t>& row_exponents() const noexcept { return row_exponents_; }

  /// The columns of B, of the last product.
  const std::vector<std::int32_t>& column_exponents() const noexcept { return column_exponents_; }

 private:
  void scale_back(HostContext& context, BlockView<float, HostSpace> C) const;

  RangeScaling scaling_;
  std::vector<std::int32_t> row_exponents_;
  std::vector<std::int32_t> column_exponents_;
  HostCsrMatrix<float> A_;
  SpmmPlan<float, HostContext> plan_;
  MultiVector<float, HostSpace> B_;
};

}  // namespace heddle
