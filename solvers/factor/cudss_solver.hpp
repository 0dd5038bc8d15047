#pragma once

#include <array>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <vector>

namespace heddle::detail {

/// The factorisation of one symmetric matrix on the GPU by cuDSS, in double, for any values in its
/// pattern: L Lᵀ of a positive definite one, else L D Lᵀ with pivots of one row that are chosen
/// within dense blocks of columns. cuDSS orders by nested dissection on the host. In its
/// deterministic mode, results have the same bits every time, and it solves for one column at a
/// time. Otherwise it orders on several threads, where its layer for them can be loaded, and solves
/// for all columns of a block at once. Errors of cuDSS are thrown as
/// `DeviceError` or `OutOfMemory`.
class CudssSolver {
 public:
  enum class Kind { positive_definite, indefinite };

  /// `lower`: the lower triangle with its diagonal. It is read by each call and must outlive this
  /// object, as must the context. Throws `DeviceError` if cuDSS cannot be loaded.
  CudssSolver(CudaContext& context, const CsrMatrix<double, DeviceSpace>& lower, Kind kind,
              bool deterministic);
  ~CudssSolver();
  CudssSolver(const CudssSolver&) = delete;
  CudssSolver& operator=(const CudssSolver&) = delete;

  void order();    ///< chooses the order of rows
  void analyse();  ///< finds the size of L

  FactorCost cost() const;      ///< of L, after `analyse`
  double device_bytes() const;  ///< the most device memory of factorisation and solves

  /// Factors the matrix with its present values. False if cuDSS reports a failure, as for a matrix
  /// that is not positive definite.
  bool factor();

  /// The diagonal of L of a positive definite matrix, in the order of its rows.
  std::vector<double> diagonal() const;

  /// The numbers of positive and negative pivots of an indefinite matrix.
  std::array<Index, 2> inertia() const;

  /// The number of pivots that were 0 to rounding, for which cuDSS put other numbers.
  Index perturbed_pivots() const;

  /// Y = A⁻¹X for `kCudssSolve`, or a half of it, see `CudssPhase`. Y may be X. `scaling`: null, or
  /// n factors s on the device, with which Y = diag(s) A⁻¹ diag(s) X.
  template <Scalar T>
  void solve(CudaContext& context, CudssPhase phase, ConstBlockView<T, DeviceSpace> X,
             BlockView<T, DeviceSpace> Y, const double* scaling = nullptr);

  /// The same for `columns` columns in host memory, one after the other.
  void solve_on_host(double* X, Index columns);

 private:
  CudssSolver(CudaContext& context, Index n) : cudss_(cudss()), context_(context), n_(n) {}

  void execute(int phase, void* solution, void* right_side);
  void execute_columns(int phase, Index columns);
  void set(int parameter, int value);
  std::vector<Index> indices(int parameter, std::size_t count, const char* what) const;
  template <class V>
  void get(int parameter, V* values, std::size_t count, const char* what) const;
  void make_blocks(Index columns);
  void scale(const double* scaling, double* block, Index columns);

  const CudssLibrary& cudss_;
  CudaContext& context_;
  Index n_;
  Index at_once_ = 1;  // columns of a solve
  void* handle_ = nullptr;
  void* config_ = nullptr;
  void* data_ = nullptr;
  void* matrix_ = nullptr;
  Buffer<double, DeviceSpace> right_side_, solution_;  // blocks by columns
};

}  // namespace heddle::detail
