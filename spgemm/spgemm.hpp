#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <memory>

/// Products of two sparse matrices, C = A B, row by row: c_i = Σ_k a_ik b_k, where b_k is row k of
/// B (Gustavson, ACM Trans. Math. Softw. 4, 1978). A plan finds the pattern of C once and then
/// computes the values of any number of products of matrices with these patterns.
///
/// C stores every entry (i, j) for which some k has stored entries (i, k) of A and (k, j) of B,
/// also where their products cancel. Columns ascend in each row. Each entry is summed in the order
/// of k, in the precision T, so it has the same bits in every run and for every number of threads.
namespace heddle {

namespace detail {
/// The structure of a product in addition to its counts, in the memory of `Space`.
template <class Space>
struct ProductSchedule;
}  // namespace detail

/// The size of a product C = A B.
struct SpgemmCounts {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;              ///< stored entries of C
  Index multiplications = 0;  ///< Σ over the entries (i, k) of A of the entries of row k of B

  /// Multiplications per entry of C. 0 for a product without entries.
  double compression() const noexcept {
    return nnz > 0 ? static_cast<double>(multiplications) / static_cast<double>(nnz) : 0;
  }
};

/// The plan of a product C = A B, for a `HostContext` or a `CudaContext`.
template <Scalar T, class Ctx>
class SpgemmPlan {
 public:
  using Space = typename Ctx::Space;

  /// Counts the entries of each row of C = A B. Keeps no reference to A and B, of which it reads
  /// only the patterns. On the host it needs 3/16·cols bytes per thread and one byte per row of A
  /// and B. On a GPU it needs at most 28 bytes per row of A and 5 per row of B, and a copy of B's
  /// pattern that it drops if it takes more than 5 % of C. Throws `InvalidArgument` with both
  /// shapes if A has not as many columns as B has rows, and `OutOfMemory`.
  SpgemmPlan(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B);

  /// The size of the product.
  const SpgemmCounts& counts() const noexcept { return counts_; }

  /// Writes the rows + 1 row offsets of C to host memory.
  void fetch_row_offsets(Ctx& context, Index* row_offsets) const;

  /// C = A B with its pattern. A and B have the patterns that the plan was made for. Adds the bytes
  /// of A, B and C and two flops per multiplication to the context's profile. Throws
  /// `InvalidArgument` if the shapes or numbers of entries are others, and `OutOfMemory`.
  CsrMatrix<T, Space> multiply(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B) const;

  /// `multiply` into arrays of the caller in the memory of the context: rows + 1 row offsets from
  /// 0, and as many columns and values as `counts().nnz`.
  void multiply_into(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B,
                     std::int64_t* row_offsets, std::int32_t* columns, T* values) const;

  /// The values of C = A B for matrices with the patterns of the plan and new values. C is a result
  /// of `multiply`. Allocates nothing of the size of C. Throws as `multiply` does.
  void update(Ctx& context, CsrView<T, Space> A, CsrView<T, Space> B, CsrMatrix<T, Space>& C) const;

 private:
  void require_planned(const CsrView<T, Space>& A, const CsrView<T, Space>& B) const;
  void compute(Ctx& context, const CsrView<T, Space>& A, const CsrView<T, Space>& B,
               std::int64_t* row_offsets, std::int32_t* columns, T* values,
               bool with_columns) const;

  SpgemmCounts counts_;
  Index nnz_A_;
  Index nnz_B_;
  Index inner_;
  std::shared_ptr<const detail::ProductSchedule<Space>> schedule_;
};

/// C = A B once, with the bits of `SpgemmPlan`. The host finds columns and values of a row in one
/// pass over its terms, where a plan takes three, and holds the entries of C twice meanwhile. The
/// GPU counts in the row offsets of C itself, where a plan keeps a copy of them. Throws as the plan
/// does.
template <Scalar T>
HostCsrMatrix<T> spgemm(HostContext& context, CsrView<T, HostSpace> A, CsrView<T, HostSpace> B);
template <Scalar T>
CsrMatrix<T, DeviceSpace> spgemm(CudaContext& context, CsrView<T, DeviceSpace> A,
                                 CsrView<T, DeviceSpace> B);

/// The Galerkin product Pᵀ(A P) of a square A with a prolongator P, A.rows×m.
template <Scalar T, class Ctx>
CsrMatrix<T, typename Ctx::Space> galerkin_product(Ctx& context, CsrView<T, typename Ctx::Space> A,
                                                   CsrView<T, typename Ctx::Space> P) {
  const CsrMatrix<T, typename Ctx::Space> AP = spgemm<T>(context, A, P);
  const CsrMatrix<T, typename Ctx::Space> Pt = transpose<T>(context, P);
  return spgemm<T>(context, Pt.view(), AP.view());
}

/// C = A B of matrices in device memory, with C in host memory. C is computed in blocks of rows
/// that take at most `device_bytes` of device memory in addition to the plan, two at a time: one is
/// computed while the other one is copied. The entries have the bits of `SpgemmPlan::multiply`.
/// Throws `OutOfMemory` if a single row needs more than half of `device_bytes`. Source: Matam,
/// Indarapu, Kothapalli, Sparse Matrix-Matrix Multiplication on Modern Architectures, HiPC 2012,
/// section 3.
template <Scalar T>
HostCsrMatrix<T> spgemm_to_host(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A,
                                CsrView<T, DeviceSpace> B, std::size_t device_bytes);

/// The reference implementation for tests: C = A B with the pattern of `SpgemmPlan`, summed in
/// double. Throws `InvalidArgument` if the shapes do not fit.
template <Scalar T>
HostCsrMatrix<T> reference_spgemm(HostContext& context, CsrView<T, HostSpace> A,
                                  CsrView<T, HostSpace> B);

/// C = A B by columns of A and rows of B, C = Σ_k A(:, k) B(k, :), to compare with `spgemm`, which
/// works row by row. All terms a_ik b_kj are written down in the order of k, sorted by (i, j) and
/// summed, each entry in the order of k in the precision T. C has the pattern and the order of sums
/// of `spgemm`.
///
/// Needs 32 bytes of device memory per multiplication and Aᵀ. Throws `InvalidArgument` if the
/// shapes do not fit or if there are 2³¹ multiplications or more, `OutOfMemory`. Sources: Matam,
/// Indarapu, Kothapalli, HiPC 2012, section 3.2 (the formulation); Bell, Dalton, Olson, SIAM J.
/// Sci. Comput. 34 (2012) C123 (expand, sort, compress).
template <Scalar T>
CsrMatrix<T, DeviceSpace> spgemm_column_row(CudaContext& context, CsrView<T, DeviceSpace> A,
                                            CsrView<T, DeviceSpace> B);

}  // namespace heddle
