#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/features.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Products of a sparse matrix with a tall-skinny block, C = α A B + β C or C = α Aᴴ B + β C, the
/// former also with the further terms of `SpmmEpilogue`. Aᴴ = Aᵀ where A is real. A plan inspects A
/// once and then multiplies any number of blocks.
namespace heddle {

/// The terms that a product adds to α A B while it stores C, and a sum that C is added to:
///
///     C = α A B + β C + γ B' + δ X,    Y = Y + η C
///
/// B' is the rows of B that belong to the rows of C. For an A of one process that is all of B, and
/// A must be square. X and Y have the shape of C and lie in the memory of `Space`. A term whose
/// coefficient is 0 is absent: its operand is not read and may be empty or contain NaN. C must not
/// share entries with X, and Y none with B, C or X.
///
/// One step of a three-term recurrence thus takes one pass. At least, a product moves A, B and C,
/// and in addition C once more where β ≠ 0, X where δ ≠ 0, Y twice where η ≠ 0. B' costs nothing,
/// because it is part of B.
template <Scalar T, class Space>
struct SpmmEpilogue {
  T beta = T{0};                    ///< β, for the old values of C
  T gamma = T{0};                   ///< γ, for B'
  T delta = T{0};                   ///< δ, for X
  ConstBlockView<T, Space> X = {};  ///< the block X
  T eta = T{0};                     ///< η, for C as a term of Y
  BlockView<T, Space> Y = {};       ///< the block Y
};

/// How a plan multiplies by Aᴴ, which is Aᵀ but for the conjugates of a complex A. On the host,
/// complex matrices are always `stored`. The data that this needs is built at the first such
/// product (on a GPU, the host builds it). A plan without such a product never builds it.
enum class SpmmTranspose {
  /// Stores the pattern of Aᵀ and, for each entry, its position among A's values, in 8·nnz +
  /// 8·(cols + 1) bytes. The values are not copied, so products use A's current values even if
  /// these have changed since. The kernel is always row split on Aᵀ, whichever kernel was
  /// requested. Values are gathered one by one. Where A's columns are scattered, this takes longer
  /// than `stored`, most of all for narrow blocks (two host cores, random pattern of 5M entries: 7
  /// times for one column, 1.4 times for 32). A may have at most 2³² − 1 entries.
  indexed,
  /// Stores a copy of Aᵀ in (4 + sizeof(T))·nnz + 8·(cols + 1) bytes, with a plan of its own and
  /// therefore the kernel that suits its own features. It keeps the values that A had when it was
  /// built.
  stored,
};

/// How a plan chooses its kernels.
struct SpmmOptions {
  /// A way of choice, or the name of a kernel from `spmm_kernels`. On a GPU, "auto" takes the
  /// kernel with the shortest time by the model of `predict_kernels`: equal input gives equal bits
  /// on equal devices. "measure" times the kernels that the model's error leaves in question on the
  /// first block of each width, so its results agree from run to run only up to rounding. "rule"
  /// chooses by thresholds for the matrix's features, "rule_row_mean" by the mean row length alone.
  /// The host has one kernel to choose, so there all ways are the same.
  std::string kernel = "auto";
  /// The file in which "measure" keeps what it found, for the same pattern, width, precision and
  /// type of GPU in later runs. Empty: it is kept within the process only. A file that is not
  /// readable, damaged or foreign is passed over, and `SpmmPlan::reason` says so.
  std::string verdict_file = {};
  SpmmTranspose transpose = SpmmTranspose::indexed;  ///< for `multiply_transposed`
};

/// A multiplication plan for one matrix. Does not own the matrix: A must outlive the plan.
///
/// Of a distributed A, see `DistributedCsrView`, a product reads and writes the rows of this
/// process. Own columns are multiplied while the halo travels, then the entries in remote columns
/// are added. All processes of the context multiply together. Each has a row at least. There is no
/// product with Aᵀ.
template <Scalar T, class Ctx>
class SpmmPlan;

class CudaContext;

template <Scalar T>
class SpmmPlan<T, HostContext> {
 public:
  /// Inspects A: rows with equal columns are grouped, very long rows are split, and all rows are
  /// divided into chunks of about equal nonzeros. Throws `InvalidArgument` for an unknown kernel
  /// name, listing the known ones.
  SpmmPlan(HostContext& context, DistributedCsrView<T, HostSpace> A,
           const SpmmOptions& options = {});
  ~SpmmPlan();
  SpmmPlan(SpmmPlan&&) noexcept;
  SpmmPlan& operator=(SpmmPlan&&) noexcept;

  /// C = α A B + β C with B cols×N and C rows×N, row-major, any ld. With β = 0, C may be
  /// uninitialised. With α = 0, A and B are not read. C must not share entries with B. The result
  /// has the same bits for every number of threads. Moves at least `compulsory_bytes(N)`. Adds
  /// these bytes, C's old values where β ≠ 0, and 2·nnz·N flops to the context's profile. Never
  /// allocates. A plan serves one call at a time. Throws `InvalidArgument` with the shapes if they
  /// do not fit.
  void multiply(HostContext& context, T alpha, ConstBlockView<T, HostSpace> B, T beta,
                BlockView<T, HostSpace> C) const;

  /// C = α A B + β C + γ B' + δ X, Y = Y + η C in one pass over C, with the terms of `epilogue` in
  /// this order. It behaves as `multiply` above, which it equals bit for bit without further terms.
  /// With α = 0, B is read where γ ≠ 0. The profile counts the bytes that `SpmmEpilogue` names.
  /// A kernel of the table without an epilogue is followed by a second pass over C. Throws
  /// `InvalidArgument` also if X or Y do not have C's shape, or if γ ≠ 0 and A is not square.
  void multiply(HostContext& context, T alpha, ConstBlockView<T, HostSpace> B,
                const SpmmEpilogue<T, HostSpace>& epilogue, BlockView<T, HostSpace> C) const;

  /// C = α Aᴴ B + β C with B rows×N and C cols×N. It behaves as `multiply`, with two differences:
  /// the first call allocates what `SpmmTranspose` describes, and indexed products move 4·nnz bytes
  /// more. Throws `InvalidArgument` if shapes do not fit, and at the first call if Aᵀ has more
  /// columns or (if indexed) more entries than 32-bit indices can address.
  void multiply_transposed(HostContext& context, T alpha, ConstBlockView<T, HostSpace> B, T beta,
                           BlockView<T, HostSpace> C) const;

  /// Bytes that C = A B moves at least: nnz·(sizeof(T) + 4) + (rows + 1)·sizeof(offset) + (cols +
  /// rows)·N·sizeof(T).
  double compulsory_bytes(Index N) const noexcept;

  /// The kernel that multiplies N columns, and the reason in one sentence.
  std::string_view kernel(Index N) const noexcept;
  std::string reason(Index N) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <Scalar T>
class SpmmPlan<T, CudaContext> {
 public:
  /// Computes, on the device, A's row lengths, the reuse of columns by neighbouring rows, and
  /// whether A consists of dense node blocks. A's values must not change while the plan exists,
  /// because kernels keep copies of them (in single precision where that is exact); only indexed
  /// products with Aᴴ follow. Throws `InvalidArgument` for an unknown kernel name, listing the
  /// known ones, for one that takes real matrices only if A is complex, listing the others, and if
  /// the address of A's values is no multiple of sizeof(T).
  SpmmPlan(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
           const SpmmOptions& options = {});
  ~SpmmPlan();
  SpmmPlan(SpmmPlan&&) noexcept;
  SpmmPlan& operator=(SpmmPlan&&) noexcept;

  /// Chooses the kernel for N columns and builds what it needs in addition to A. `multiply` calls
  /// it for a new N. After it, no `multiply` with N columns allocates. The exception is "measure",
  /// which chooses in `multiply`, because it needs the block to measure with.
  void prepare(CudaContext& context, Index N) const;

  /// C = α A B + β C with B cols×N and C rows×N, row-major, any ld. With β = 0, C may be
  /// uninitialised. With α = 0, A and B are not read. C must not share entries with B. The product
  /// is queued on the context's stream. The result has the same bits in every run on one type of
  /// GPU, except with "measure". Adds `compulsory_bytes(N)`, C's old
  /// values where β ≠ 0, and 2·nnz·N flops to the context's profile. A plan serves one call at a
  /// time. Throws `InvalidArgument` with the shapes if they do not fit, and if the address of a
  /// block is no multiple of sizeof(T), as std::complex allows: its numbers are loaded at once.
  void multiply(CudaContext& context, T alpha, ConstBlockView<T, DeviceSpace> B, T beta,
                BlockView<T, DeviceSpace> C) const;

  /// C = α A B + β C + γ B' + δ X, Y = Y + η C, in one pass. It behaves as `multiply` above, which
  /// it equals bit for bit without further terms. With α = 0, B is read where γ ≠ 0. The profile
  /// counts the bytes that `SpmmEpilogue` names. Throws `InvalidArgument` also if X or Y do not
  /// have C's shape, or if γ ≠ 0 and A is not square.
  void multiply(CudaContext& context, T alpha, ConstBlockView<T, DeviceSpace> B,
                const SpmmEpilogue<T, DeviceSpace>& epilogue, BlockView<T, DeviceSpace> C) const;

  /// `prepare` for `multiply_transposed`, which calls it for a new N.
  void prepare_transposed(CudaContext& context, Index N) const;

  /// C = α Aᴴ B + β C with B rows×N and C cols×N. It behaves as `multiply`, but indexed products
  /// move 4·nnz bytes more. Throws `InvalidArgument` if shapes do not fit, and at the first call if
  /// Aᵀ has more columns or (if indexed) more entries than 32-bit indices can address.
  void multiply_transposed(CudaContext& context, T alpha, ConstBlockView<T, DeviceSpace> B, T beta,
                           BlockView<T, DeviceSpace> C) const;

  /// Bytes that C = A B moves at least: nnz·(sizeof(T) + 4) + (rows + 1)·sizeof(offset) + (cols +
  /// rows)·N·sizeof(T).
  double compulsory_bytes(Index N) const noexcept;

  /// The features of A that the choice is made by.
  const MatrixFeatures& features() const noexcept;

  /// The kernel that multiplies N columns, and the reason in one sentence. With "measure", before
  /// the first product of N columns, it is the kernel that "auto" would choose.
  std::string_view kernel(Index N) const;
  std::string reason(Index N) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The ways of choice that `SpmmOptions::kernel` accepts, "auto" first.
const std::vector<std::string_view>& spmm_choices();

/// The usual file for `SpmmOptions::verdict_file`: heddle/spmm-verdicts in $XDG_CACHE_HOME, or else
/// in ~/.cache. Empty if neither is known.
std::string default_verdict_file();

/// The kernel names that `SpmmOptions::kernel` accepts on the host.
const std::vector<std::string_view>& spmm_kernels(const HostContext&);

/// The kernel names that `SpmmOptions::kernel` accepts on a GPU, in addition to the rules of
/// choice.
const std::vector<std::string_view>& spmm_kernels(const CudaContext&);

/// The kernel names of all backends, each once, also of backends that this build or machine lacks.
std::vector<std::string_view> all_spmm_kernels();

/// A kernel and the reason for its choice in one sentence.
struct KernelChoice {
  std::string_view kernel;  ///< of static storage duration
  std::string reason;
};

/// The kernel that "rule" chooses on a GPU to multiply A by N columns, for values of `scalar_bytes`
/// bytes each. Needs no GPU. Uses only rows, cols, nnz, row lengths, `reuse_8`, `reuse_grid` and
/// the node blocks of the features. The thresholds were measured on one NVIDIA H200. The form of
/// the rule follows Huang et al., arXiv:2106.16064 (σ/d for balance, N and d for the reduction).
/// The node blocks and the reuse of panels and grids are additions.
KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t scalar_bytes);

struct DeviceSpeed;

/// The kernel that "auto" chooses on a GPU: the first of `predict_kernels` that the GPU has and
/// that gives the same bits in every run. Without such a kernel, as `choose_by_features`. Needs no
/// GPU.
KernelChoice choose_by_model(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                             const DeviceSpeed& device);

/// The reference implementation for tests: C = α A B + β C by three loops, summed in double. With β
/// = 0, C is not read. With α = 0, A and B are not read. Shapes must fit.
template <Scalar T>
void reference_spmm(Wide<T> alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    Wide<T> beta, BlockView<T, HostSpace> C);

/// The same with all terms of `SpmmEpilogue`. An operand whose coefficient is 0 is not read.
template <Scalar T>
void reference_spmm(Wide<T> alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    const SpmmEpilogue<T, HostSpace>& epilogue, BlockView<T, HostSpace> C);

}  // namespace heddle
