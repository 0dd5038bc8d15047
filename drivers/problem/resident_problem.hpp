#pragma once

#include <functional>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <memory>
#include <optional>

/// Problems whose matrices and blocks lie in the memory of the device that solves them, for callers
/// whose data is on a GPU already. Matrices are used where they are, without a copy, unless their
/// entries need the solve of a host problem (see solve_resident.hpp).
namespace heddle {

/// A matrix in the memory of a context `Ctx`: compressed sparse rows, or a callable that multiplies
/// by it. Data belongs to the caller, is not copied, and must outlive every copy, unchanged.
template <Scalar T, class Ctx>
class ResidentMatrix {
 public:
  using Space = typename Ctx::Space;

  /// Y = A X for row-major blocks in the memory of the context, X cols×b, Y rows×b, b ≥ 1, not
  /// overlapping. On a GPU it queues its work on the stream of the context, or orders its own
  /// stream by `CudaContext::let_wait` and `wait_for`.
  using Apply =
      std::function<void(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y)>;

  /// 0×0.
  ResidentMatrix() = default;

  /// The stored matrix A.
  explicit ResidentMatrix(CsrView<T, Space> A) noexcept : view_(A) {}

  /// A matrix that is not stored: `apply` multiplies by it. Throws `InvalidArgument` if `apply` is
  /// empty or a size is negative.
  ResidentMatrix(Index rows, Index cols, Apply apply);

  Index rows() const noexcept { return view_.rows; }
  Index cols() const noexcept { return view_.cols; }
  Index nnz() const noexcept { return view_.nnz; }  ///< 0 if the matrix is not stored
  bool is_stored() const noexcept { return !apply_; }
  /// The stored matrix. If the matrix is not stored, only the sizes of the view are set.
  CsrView<T, Space> view() const noexcept { return view_; }
  /// The callable that multiplies by the matrix. Empty if the matrix is stored.
  const Apply& apply() const noexcept { return apply_; }

 private:
  CsrView<T, Space> view_{};
  Apply apply_;
};

/// A problem in the memory of a context. Blocks may have any leading dimension. On a GPU they are
/// copied within its memory.
template <Scalar T, class Ctx>
using ResidentProblem = ProblemOf<ResidentMatrix<T, Ctx>, ConstBlockView<T, typename Ctx::Space>>;

/// A solution whose vectors lie in the memory of a context.
template <Scalar T, class Space>
struct ResidentSolution {
  Solution solution;                   ///< with empty `vectors` and `left_vectors`
  MultiVector<T, Space> vectors;       ///< as `Solution::vectors`
  MultiVector<T, Space> left_vectors;  ///< as `Solution::left_vectors`
};

}  // namespace heddle
