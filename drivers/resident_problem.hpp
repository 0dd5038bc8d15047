#pragma once

#include <functional>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/solution.hpp>
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
  bool is_stored() const noexcept { return !apply_; }
  /// The stored matrix. If the matrix is not stored, only the sizes of the view are set.
  CsrView<T, Space> view() const noexcept { return view_; }
  const Apply& apply() const noexcept { return apply_; }

 private:
  CsrView<T, Space> view_{};
  Apply apply_;
};

/// A problem in the memory of a context. The fields mean what those of `HostProblem` mean. Blocks
/// may have any leading dimension. On a GPU they are copied within its memory.
template <Scalar T, class Ctx>
struct ResidentProblem {
  using Space = typename Ctx::Space;

  ResidentMatrix<T, Ctx> A{};
  std::optional<ResidentMatrix<T, Ctx>> B{};
  ConstBlockView<T, Space> constraints{};
  ConstBlockView<T, Space> initial_guess{};
  bool guess_from_random = false;
  ConstBlockView<T, Space> rhs{};
  bool normal_equations = false;
  std::optional<ResidentMatrix<T, Ctx>> A_transposed{};
  std::optional<ResidentMatrix<T, Ctx>> preconditioner{};
  Block near_null{};    ///< in host memory
  Block coordinates{};  ///< in host memory
  /// Null vectors of A that the caller knows, as in `HostProblem`. `solve` looks for them only in a
  /// copy in host memory, for which these do not count.
  std::shared_ptr<const GraphNullSpace> null_space{};

  ProblemSizes sizes() const noexcept {
    return {.n = A.rows(),
            .constraints = constraints.cols(),
            .rhs = rhs.cols(),
            .pencil = B.has_value(),
            .cols = A.cols(),
            .normal_equations = normal_equations,
            .null_vectors = null_space ? null_space->dimension : 0};
  }
};

/// A solution whose vectors lie in the memory of a context.
template <Scalar T, class Space>
struct ResidentSolution {
  Solution solution;                   ///< with empty `vectors` and `left_vectors`
  MultiVector<T, Space> vectors;       ///< as `Solution::vectors`
  MultiVector<T, Space> left_vectors;  ///< as `Solution::left_vectors`
};

}  // namespace heddle
