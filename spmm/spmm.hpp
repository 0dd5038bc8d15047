#pragma once

#include <heddle/linalg/csr_matrix.hpp>
#include <heddle/linalg/views.hpp>
#include <heddle/spmm/features.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Sparse matrix times tall-skinny block: C = α A B + β C, inspect once, multiply often.
namespace heddle {

/// How a plan chooses its kernel.
struct SpmmOptions {
  std::string kernel = "auto";  ///< "auto" or a name from `spmm_kernels`
};

/// A multiplication plan for one matrix. Does not own the matrix: A must outlive the plan.
template <Scalar T, class Ctx>
class SpmmPlan;

template <Scalar T>
class SpmmPlan<T, HostContext> {
 public:
  /// Inspects A: rows with equal columns are grouped, very long ones split, all dealt into chunks
  /// of about equal nonzeros. Throws `InvalidArgument` for an unknown kernel name, listing the
  /// known ones.
  SpmmPlan(HostContext& context, CsrView<T, HostSpace> A, const SpmmOptions& options = {});
  ~SpmmPlan();
  SpmmPlan(SpmmPlan&&) noexcept;
  SpmmPlan& operator=(SpmmPlan&&) noexcept;

  /// C = α A B + β C; B cols×N, C rows×N, row-major, any ld. For β = 0, C may be uninitialised.
  /// C must not share entries with B. α = 0 does not read A or B. Same bits for every number of
  /// threads. Moves at least `compulsory_bytes(N)` and counts them, C's old values for β ≠ 0 and
  /// 2·nnz·N flops in the context's profile. Never allocates; a plan serves one call at a time.
  /// Throws `InvalidArgument` if shapes do not fit, naming them.
  void multiply(HostContext& context, T alpha, ConstBlockView<T, HostSpace> B, T beta,
                BlockView<T, HostSpace> C) const;

  /// nnz·(sizeof(T) + 4) + (rows + 1)·sizeof(offset) + (cols + rows)·N·sizeof(T).
  double compulsory_bytes(Index N) const noexcept;

  /// The kernel that multiplies N columns, and one sentence why.
  std::string_view kernel(Index N) const noexcept;
  std::string reason(Index N) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Kernel names that `SpmmOptions::kernel` takes on the host.
const std::vector<std::string_view>& spmm_kernels(const HostContext&);

/// The readable reference: C = α A B + β C by three loops, summed in double. For tests. β = 0 does
/// not read C, α = 0 neither A nor B. Shapes must fit.
template <Scalar T>
void reference_spmm(double alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    double beta, BlockView<T, HostSpace> C);

}  // namespace heddle
