#pragma once

#include <heddle/linalg/data/small_matrix.hpp>

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
CholeskyStatus cholesky(HostContext& context, SmallView<double, HostSpace> G);

/// R ← R⁻¹ in place, R upper triangular with non-zero diagonal.
void invert_upper(HostContext& context, SmallView<double, HostSpace> R);

/// Rows of the `status` of `cholesky_qr_coefficients`.
struct CholeskyQrStatus {
  static constexpr Index diagonal_ratio = 0;  ///< min/max over the diagonal of R; 0: there is no R
  static constexpr Index growth = 1;          ///< ‖R⁻¹‖²_F/b: from 1 for orthogonal columns
  static constexpr Index least_square = 2;    ///< min over the diagonal of H
  static constexpr Index remaining = 3;       ///< min_j H_jj/G_jj: of ‖x_j‖², what is not in Q
  static constexpr Index rows = 4;
};

/// N = [−C M; M] such that the columns of [Q X] N are orthonormal and orthogonal to those of Q: a
/// round of block Gram–Schmidt with Cholesky QR from the products T = [C; G], C = QᵀX c×b and
/// G = XᵀX b×b, in one pass over the long blocks. By Pythagoras, H = G − CᵀC is the Gram matrix of
/// what the projection leaves; M = D R⁻¹ with D = diag(H)^(-1/2) and RᵀR = D H D. With c = 0 it is
/// a round of Cholesky QR with the columns scaled to norm 1 first.
///
/// Waits for nothing: how it went stands in `status`, a column of `CholeskyQrStatus::rows` numbers.
/// T and N (c + b)×b must not share memory. N is 0 where D H D has no Cholesky factor. Throws
/// `InvalidArgument` if shapes do not fit. Sources: Yamazaki, Thomas, Hoemmen, Boman, Swirydowicz,
/// Elliott, SIAM PP 2020, 118 (BCGS-PIP); Carson, Lund, Ma, Oktay, arXiv 2405.01298 (why two rounds
/// of it are stable).
void cholesky_qr_coefficients(HostContext& context, ConstSmallView<double, HostSpace> T,
                              SmallView<double, HostSpace> N, SmallView<double, HostSpace> status);

/// C = α op(A) op(B) + β C for small matrices; C must not share memory with A or B.
void small_multiply(HostContext& context, double alpha, ConstSmallView<double, HostSpace> A,
                    bool transpose_a, ConstSmallView<double, HostSpace> B, bool transpose_b,
                    double beta, SmallView<double, HostSpace> C);

/// R = U diag(σ) Vᵀ, σ descending, UᵀU = VᵀV = I; R and U m×n, m ≥ n, V n×n, sigma n×1, none of
/// them sharing memory. Errors of σ are some ε·σ₁. Allocates. False if R holds NaN or Inf or the
/// iteration did not converge; the results are then undefined. Throws `InvalidArgument` if shapes
/// do not fit.
/// Sources: Golub & Van Loan, Matrix Computations, 8.6.3 (Jacobi rotations); Drmač & Veselić, SIAM
/// J. Matrix Anal. Appl. 29 (2008) 1322 (why to start them from a matrix near its end).
bool singular_value_decomposition(ConstSmallView<double, HostSpace> R,
                                  SmallView<double, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<double, HostSpace> V);

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
  bool compute(HostContext& context, ConstSmallView<double, HostSpace> H,
               SmallView<double, HostSpace> theta, SmallView<double, HostSpace> Z);

 private:
  Buffer<double, HostSpace> work_;
};

class CudaContext;

// The same in device memory. The calls queue their work on the context's stream.

void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<double, DeviceSpace> T,
                              SmallView<double, DeviceSpace> N,
                              SmallView<double, DeviceSpace> status);

void small_multiply(CudaContext& context, double alpha, ConstSmallView<double, DeviceSpace> A,
                    bool transpose_a, ConstSmallView<double, DeviceSpace> B, bool transpose_b,
                    double beta, SmallView<double, DeviceSpace> C);

}  // namespace heddle
