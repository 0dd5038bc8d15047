#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/features.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Sparse matrix times tall-skinny block: C = α A B + β C or α Aᵀ B + β C, inspect once, multiply
/// often.
namespace heddle {

/// How a plan multiplies by Aᵀ. Either way what it needs is built at the first such product (on a
/// GPU by way of the host), and nothing where there is none.
enum class SpmmTranspose {
  /// The pattern of Aᵀ with, for each entry, its position among A's values, 8·nnz + 8·(cols + 1)
  /// bytes. There is no second copy of the values, so products follow A where its values change in
  /// place. Rows of Aᵀ are split, whatever the kernel asked for. Values are gathered one by one:
  /// where A's columns are scattered, that takes longer than `stored`, the more so the narrower the
  /// block (two host cores, random pattern of 5M entries: 7 times for one column, 1.4 for 32). A
  /// may have no more than 2³² − 1 entries.
  indexed,
  /// A copy of Aᵀ, (4 + sizeof(T))·nnz + 8·(cols + 1) bytes, with a plan of its own and thus the
  /// kernel for its own features. Keeps the values that A had when it was built.
  stored,
};

/// How a plan chooses its kernels.
struct SpmmOptions {
  /// A way to choose or a name from `spmm_kernels`. On a GPU "auto" is "rule": by the matrix's
  /// features, so that equal input gives equal bits. "rule_row_mean": by the mean row length alone.
  /// "measure": the fastest of two or three on the first block of each width; its results agree
  /// from run to run only to rounding. On the host, which has one kernel to choose, all are one.
  std::string kernel = "auto";
  SpmmTranspose transpose = SpmmTranspose::indexed;  ///< for `multiply_transposed`
};

/// A multiplication plan for one matrix. Does not own the matrix: A must outlive the plan.
template <Scalar T, class Ctx>
class SpmmPlan;

class CudaContext;

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

  /// C = α Aᵀ B + β C; B rows×N, C cols×N; for the rest as `multiply`, but the first call allocates
  /// what `SpmmTranspose` says, and indexed products move 4·nnz bytes more. Throws
  /// `InvalidArgument` if shapes do not fit, and at the first call if Aᵀ has too many columns or,
  /// indexed, entries for 32-bit indices.
  void multiply_transposed(HostContext& context, T alpha, ConstBlockView<T, HostSpace> B, T beta,
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

template <Scalar T>
class SpmmPlan<T, CudaContext> {
 public:
  /// Inspects A's row lengths and how neighbouring rows share columns, on the device. Throws
  /// `InvalidArgument` for an unknown kernel name, listing the known ones.
  SpmmPlan(CudaContext& context, CsrView<T, DeviceSpace> A, const SpmmOptions& options = {});
  ~SpmmPlan();
  SpmmPlan(SpmmPlan&&) noexcept;
  SpmmPlan& operator=(SpmmPlan&&) noexcept;

  /// Chooses the kernel for N columns and builds what it needs beside A. `multiply` does it for a
  /// new N; done before, no `multiply` with N columns allocates. ("measure" chooses in `multiply`,
  /// which has the block to measure with.)
  void prepare(CudaContext& context, Index N) const;

  /// C = α A B + β C; B cols×N, C rows×N, row-major, any ld. For β = 0, C may be uninitialised.
  /// C must not share entries with B. α = 0 does not read A or B. Queued on the context's stream.
  /// The same bits every time on one kind of GPU, except with "measure" and the cuSPARSE kernels.
  /// Counts `compulsory_bytes(N)`, C's old values for
  /// β ≠ 0 and 2·nnz·N flops in the context's profile. A plan serves one call at a time. Throws
  /// `InvalidArgument` if shapes do not fit, naming them.
  void multiply(CudaContext& context, T alpha, ConstBlockView<T, DeviceSpace> B, T beta,
                BlockView<T, DeviceSpace> C) const;

  /// `prepare` for `multiply_transposed`, which does it for a new N.
  void prepare_transposed(CudaContext& context, Index N) const;

  /// C = α Aᵀ B + β C; B rows×N, C cols×N; for the rest as `multiply`, but indexed products move
  /// 4·nnz bytes more. Throws `InvalidArgument` if shapes do not fit, and at the first call if Aᵀ
  /// has too many columns or, indexed, entries for 32-bit indices.
  void multiply_transposed(CudaContext& context, T alpha, ConstBlockView<T, DeviceSpace> B, T beta,
                           BlockView<T, DeviceSpace> C) const;

  /// nnz·(sizeof(T) + 4) + (rows + 1)·sizeof(offset) + (cols + rows)·N·sizeof(T).
  double compulsory_bytes(Index N) const noexcept;

  /// The kernel that multiplies N columns, and one sentence why. Before "measure" has seen N
  /// columns, what the rule would choose.
  std::string_view kernel(Index N) const;
  std::string reason(Index N) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The ways to choose a kernel that `SpmmOptions::kernel` takes, "auto" first.
const std::vector<std::string_view>& spmm_choices();

/// Kernel names that `SpmmOptions::kernel` takes on the host.
const std::vector<std::string_view>& spmm_kernels(const HostContext&);

/// Kernel names that `SpmmOptions::kernel` takes on a GPU, beside the ways to choose.
const std::vector<std::string_view>& spmm_kernels(const CudaContext&);

/// Kernel names of all backends, each once, whether or not this build and machine have the backend.
std::vector<std::string_view> all_spmm_kernels();

/// A kernel and one sentence why.
struct KernelChoice {
  std::string_view kernel;  ///< of static storage duration
  std::string reason;
};

/// The kernel that "rule" chooses on a GPU to multiply A by N columns, for values of `scalar_bytes`
/// bytes each. Needs no GPU. Uses rows, cols, nnz, row lengths and `reuse_8` of the features alone.
/// Thresholds: measured on one NVIDIA H200. Their form follows Huang et al., arXiv:2106.16064 (σ/d
/// for balance, N and d for the reduction) and adds the reuse R(8) for tensor cores.
KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t scalar_bytes);

/// The readable reference: C = α A B + β C by three loops, summed in double. For tests. β = 0 does
/// not read C, α = 0 neither A nor B. Shapes must fit.
template <Scalar T>
void reference_spmm(double alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    double beta, BlockView<T, HostSpace> C);

}  // namespace heddle
