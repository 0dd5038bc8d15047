#pragma once

#include <heddle/linalg/data/views.hpp>
#include <memory>

/// Sparse triangular solves with blocks of right-hand sides, Y = A⁻¹X with A lower or upper
/// triangular. A plan inspects A once and then solves for any number of blocks.
namespace heddle {

/// Which triangle of a triangular matrix is stored.
enum class Triangle {
  lower,  ///< columns ≤ row
  upper,  ///< columns ≥ row
};

/// How the rows of a triangular matrix wait for each other on a GPU. All schedules give the same
/// bits.
enum class TriangularSchedule {
  /// `launches` if the mean level has rows for twice as many threads as the GPU can run at once,
  /// else `flags`.
  automatic,
  /// Solves all rows in one kernel launch. Each row waits until flags show that the rows it depends
  /// on are solved. A level takes about as long as a value needs from one multiprocessor to
  /// another.
  flags,
  /// One launch per level. A row need not check whether others are solved.
  launches,
};

/// A plan for substitution with one triangular matrix A. The level of a row is the length of the
/// longest chain of rows that must be solved before it, one after the other. The rows of one level
/// are solved in parallel. The plan keeps a copy of A in the order of the levels in nnz·(sizeof(T)
/// + 4) + 12·rows bytes, and on a GPU 4 bytes per row more. Sources: Anderson & Saad, Int. J. High
/// Speed Computing 1 (1989) 73 (levels); Liu et al., Euro-Par 2016, 617 (rows that wait for each
/// other in one launch).
template <Scalar T, class Ctx>
class TriangularPlan;

class CudaContext;

template <Scalar T>
class TriangularPlan<T, HostContext> {
 public:
  /// A is in host memory and is not needed after the call. Throws `InvalidArgument`, naming the
  /// row, if A has an entry on the wrong side of the diagonal or a row without exactly one diagonal
  /// entry. The diagonal entry must be the last of its row in a lower triangle and the first in an
  /// upper one. Throws `InvalidArgument` if A is not square.
  TriangularPlan(HostContext& context, CsrView<T, HostSpace> A, Triangle triangle);
  ~TriangularPlan();
  TriangularPlan(TriangularPlan&&) noexcept;
  TriangularPlan& operator=(TriangularPlan&&) noexcept;

  /// Y = A⁻¹X with X and Y rows×N, row-major, any ld. Y may be X, otherwise they must not overlap.
  /// One thread solves successive levels that are too small for several threads. Every entry is a
  /// sum in a fixed order, so the result has the same bits for every number of threads. A zero on
  /// the diagonal gives the result of a division by zero. Never allocates. Throws `InvalidArgument`
  /// with the shapes if they do not fit.
  void solve(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) const;

  Index levels() const noexcept;  ///< 0 for a matrix without rows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <Scalar T>
class TriangularPlan<T, CudaContext> {
 public:
  /// As on the host. A is in host memory, where its levels are computed, and is copied to the
  /// device.
  TriangularPlan(CudaContext& context, CsrView<T, HostSpace> A, Triangle triangle,
                 TriangularSchedule schedule = TriangularSchedule::automatic);

  /// The same for an A in device memory, whose levels are computed there, unless they are so many
  /// that the host is faster. The setup takes memory for one copy of A and for a few numbers per
  /// row.
  TriangularPlan(CudaContext& context, CsrView<T, DeviceSpace> A, Triangle triangle,
                 TriangularSchedule schedule = TriangularSchedule::automatic);
  ~TriangularPlan();
  TriangularPlan(TriangularPlan&&) noexcept;
  TriangularPlan& operator=(TriangularPlan&&) noexcept;

  /// Y = A⁻¹X as on the host, queued on the context's stream. The result has the same bits in every
  /// run. A plan serves one call at a time.
  void solve(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             BlockView<T, DeviceSpace> Y) const;

  Index levels() const noexcept;  ///< 0 for a matrix without rows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
