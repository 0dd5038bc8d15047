#pragma once

#include <heddle/linalg/small_matrix.hpp>
#include <memory>

/// Dense problems of order b … a few hundred (and the n×n problem of a small matrix), in
/// double.
namespace heddle {

/// What a Cholesky factorisation met.
struct CholeskyStatus {
  bool positive_definite = false;
  /// min/max over the diagonal of R: a cheap bound on 1/κ(R). 0 if not positive definite.
  double diagonal_ratio = 0;
};

/// G = RᵀR; R upper triangular overwrites G, zeros below. G b×b symmetric; only its upper triangle
/// is read. A pivot that is not positive (or NaN) stops it: G is then undefined.
CholeskyStatus cholesky(HostContext& context, SmallView<HostSpace> G);

/// R ← R⁻¹ in place, R upper triangular with non-zero diagonal.
void invert_upper(HostContext& context, SmallView<HostSpace> R);

/// Rows of the `status` of `cholesky_qr_coefficients`.
struct CholeskyQrStatus {
  static constexpr Index diagonal_ratio = 0;  ///< min/max over the diagonal of R; 0: there is no R
  static constexpr Index growth = 1;  ///< ‖R⁻¹‖²_F/b: from 1 for orthogonal columns of X
  static constexpr Index least_square = 2;  ///< min over the diagonal of G
  static constexpr Index rows = 3;
};

/// M = D R⁻¹ for D = diag(G)^(-1/2) and RᵀR = D G D: with G = XᵀX, the columns of X M are
/// orthonormal. A round of Cholesky QR that scales columns to norm 1 first and waits for nothing:
/// how it went stands in `status`, a column of `CholeskyQrStatus::rows` numbers. G b×b symmetric
/// (only its upper triangle is read); M b×b, upper triangular, or 0 where D G D has no Cholesky
/// factor. G and M must not share memory.
void cholesky_qr_coefficients(HostContext& context, ConstSmallView<HostSpace> G,
                              SmallView<HostSpace> M, SmallView<HostSpace> status);

/// C = α op(A) op(B) + β C for small matrices; C must not share memory with A or B.
void small_multiply(HostContext& context, double alpha, ConstSmallView<HostSpace> A,
                    bool transpose_a, ConstSmallView<HostSpace> B, bool transpose_b, double beta,
                    SmallView<HostSpace> C);

/// Eigendecomposition of symmetric matrices: H Z = Z diag(θ), θ ascending, ZᵀZ = I.
///
/// Keeps its working memory: a call at an order no larger than one already met allocates nothing.
/// Source: Golub & Van Loan, Matrix Computations, 8.3 (Householder tridiagonalisation, implicit QR
/// steps with Wilkinson's shift).
template <class Ctx>
class SymmetricEigensolver;

template <>
class SymmetricEigensolver<HostContext> {
 public:
  /// H m×m (its lower triangle is read), theta m×1, Z m×m; Z may be H. False if the iteration did
  /// not converge or H holds NaN or Inf; theta and Z are then undefined.
  bool compute(HostContext& context, ConstSmallView<HostSpace> H, SmallView<HostSpace> theta,
               SmallView<HostSpace> Z);

 private:
  Buffer<double, HostSpace> work_;
};

class CudaContext;

// The same in device memory. Those that return a status wait for the device.

CholeskyStatus cholesky(CudaContext& context, SmallView<DeviceSpace> G);

void invert_upper(CudaContext& context, SmallView<DeviceSpace> R);

void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<DeviceSpace> G,
                              SmallView<DeviceSpace> M, SmallView<DeviceSpace> status);

void small_multiply(CudaContext& context, double alpha, ConstSmallView<DeviceSpace> A,
                    bool transpose_a, ConstSmallView<DeviceSpace> B, bool transpose_b, double beta,
                    SmallView<DeviceSpace> C);

template <>
class SymmetricEigensolver<CudaContext> {
 public:
  SymmetricEigensolver();
  ~SymmetricEigensolver();
  SymmetricEigensolver(SymmetricEigensolver&&) noexcept;
  SymmetricEigensolver& operator=(SymmetricEigensolver&&) noexcept;

  bool compute(CudaContext& context, ConstSmallView<DeviceSpace> H, SmallView<DeviceSpace> theta,
               SmallView<DeviceSpace> Z);

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace heddle
