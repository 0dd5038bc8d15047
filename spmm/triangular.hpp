#pragma once

#include <heddle/linalg/data/views.hpp>
#include <memory>

/// Sparse triangular solves with blocks of right-hand sides: Y = L⁻¹X, inspect once, solve often.
namespace heddle {

/// Which entries of a triangular matrix are stored.
enum class Triangle {
  lower,  ///< columns ≤ row
  upper,  ///< columns ≥ row
};

/// How the rows of a triangle wait for each other on a GPU. Either way gives the same bits.
enum class TriangularSchedule {
  /// `launches` where the mean level fills the GPU with threads twice over, else `flags`.
  automatic,
  /// All rows in one launch: each waits until flags say that those it needs are solved. A level
  /// costs about as long as a value takes from one multiprocessor to another.
  flags,
  /// A launch for each level, whose rows need not look whether others are solved.
  launches,
};

/// A substitution plan for one triangular matrix. Rows that wait for the same number of others one
/// after the other are a level; the rows of a level are solved side by side. Keeps a copy of the
/// matrix in the order of its levels: nnz·(sizeof(T) + 4) + 12·rows bytes, and on a GPU 4 bytes
/// per row.
/// Sources: Anderson & Saad, Int. J. High Speed Computing 1 (1989) 73 (levels); Liu et al.,
/// Euro-Par 2016, 617 (rows that wait for each other in one launch).
template <Scalar T, class Ctx>
class TriangularPlan;

class CudaContext;

template <Scalar T>
class TriangularPlan<T, HostContext> {
 public:
  /// A in host memory, not needed afterwards. Throws `InvalidArgument` if A is not square, has an
  /// entry on the wrong side of the diagonal, or a row that does not hold its diagonal entry once,
  /// as its last in a lower triangle and its first in an upper one; it names the row.
  TriangularPlan(HostContext& context, CsrView<T, HostSpace> A, Triangle triangle);
  ~TriangularPlan();
  TriangularPlan(TriangularPlan&&) noexcept;
  TriangularPlan& operator=(TriangularPlan&&) noexcept;

  /// Y = A⁻¹X; both rows×N, row-major, any ld. Y may be X, else they must not overlap. Runs of
  /// levels too small for several threads are solved by one. Every entry is a sum in a fixed order:
  /// the same bits for every number of threads. A zero on the diagonal gives what division by it
  /// gives. Never allocates. Throws `InvalidArgument` if shapes do not fit, naming them.
  void solve(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) const;

  Index levels() const noexcept;  ///< 0 for a matrix without rows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <Scalar T>
class TriangularPlan<T, CudaContext> {
 public:
  /// As on the host: A is in host memory, where its levels are found, and is copied.
  TriangularPlan(CudaContext& context, CsrView<T, HostSpace> A, Triangle triangle,
                 TriangularSchedule schedule = TriangularSchedule::automatic);
  ~TriangularPlan();
  TriangularPlan(TriangularPlan&&) noexcept;
  TriangularPlan& operator=(TriangularPlan&&) noexcept;

  /// Y = A⁻¹X as on the host, queued on the context's stream. The same bits every time. A plan
  /// serves one call at a time.
  void solve(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             BlockView<T, DeviceSpace> Y) const;

  Index levels() const noexcept;  ///< 0 for a matrix without rows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
