#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <optional>
#include <vector>

/// Dense problems in double, of an order from the block width to a few hundred (or of order n for
/// small matrices). Where complex matrices are taken, too, transposes are adjoints, and symmetric
/// means Hermitian.
namespace heddle {

/// The outcome of a Cholesky factorisation.
struct CholeskyStatus {
  bool positive_definite = false;
  /// min/max over the diagonal of R, a cheap upper bound on 1/κ(R). 0 if G is not positive
  /// definite.
  double diagonal_ratio = 0;
};

/// G = RᵀR (G b×b, symmetric). R, upper triangular with zeros below, overwrites G. Only the upper
/// triangle of G is read. A pivot that is not positive (or NaN) stops the factorisation, and G is
/// then undefined.
CholeskyStatus cholesky(HostContext& context, SmallView<double, HostSpace> G);
CholeskyStatus cholesky(HostContext& context, SmallView<std::complex<double>, HostSpace> G);

/// R ← R⁻¹ in place (R upper triangular with a nonzero diagonal).
void invert_upper(HostContext& context, SmallView<double, HostSpace> R);
void invert_upper(HostContext& context, SmallView<std::complex<double>, HostSpace> R);

/// The rows of the column `status` that `cholesky_qr_coefficients` writes.
struct CholeskyQrStatus {
  static constexpr Index diagonal_ratio =
      0;                              ///< min/max over the diagonal of R, 0 if there is no R
  static constexpr Index growth = 1;  ///< ‖R⁻¹‖²_F/b, which is 1 for orthogonal columns
  static constexpr Index least_square = 2;  ///< min over the diagonal of H
  static constexpr Index remaining = 3;  ///< min_j H_jj/G_jj, the fraction of ‖x_j‖² outside of Q
  static constexpr Index rows = 4;
};

/// N = [−C M; M] such that the columns of [Q X] N are orthonormal and orthogonal to those of Q.
/// This is a round of block Gram–Schmidt with Cholesky QR that needs one pass over the long blocks:
/// the product T = [C; G] with C = QᵀX (c×b) and G = XᵀX (b×b). By Pythagoras, H = G − CᵀC is the
/// Gram matrix of X after the projection. M = D R⁻¹ with D = diag(H)^(-1/2) and RᵀR = D H D. With c
/// = 0, it is a round of Cholesky QR in which the columns are first scaled to norm 1.
///
/// Does not wait for the result. `status`, a column of `CholeskyQrStatus::rows` numbers, receives
/// the outcome. T and N, both (c + b)×b, must not share memory. N is 0 if D H D has no Cholesky
/// factor. Throws `InvalidArgument` if shapes do not fit. Sources: Yamazaki, Thomas, Hoemmen,
/// Boman, Swirydowicz, Elliott, SIAM PP 2020, 118 (BCGS-PIP); Carson, Lund, Ma, Oktay, arXiv
/// 2405.01298 (why two rounds of it are stable).
void cholesky_qr_coefficients(HostContext& context, ConstSmallView<double, HostSpace> T,
                              SmallView<double, HostSpace> N, SmallView<double, HostSpace> status);
void cholesky_qr_coefficients(HostContext& context,
                              ConstSmallView<std::complex<double>, HostSpace> T,
                              SmallView<std::complex<double>, HostSpace> N,
                              SmallView<double, HostSpace> status);

/// C = α op(A) op(B) + β C for small matrices. C must not share memory with A or B.
void small_multiply(HostContext& context, double alpha, ConstSmallView<double, HostSpace> A,
                    bool transpose_a, ConstSmallView<double, HostSpace> B, bool transpose_b,
                    double beta, SmallView<double, HostSpace> C);
void small_multiply(HostContext& context, double alpha,
                    ConstSmallView<std::complex<double>, HostSpace> A, bool transpose_a,
                    ConstSmallView<std::complex<double>, HostSpace> B, bool transpose_b,
                    double beta, SmallView<std::complex<double>, HostSpace> C);

/// R = U diag(σ) Vᴴ with σ descending and UᴴU = VᴴV = I (R and U m×n, m ≥ n, V n×n, sigma n×1).
/// None of them may share memory. The errors of σ are a few ε·σ₁. Allocates. Returns false if R
/// holds NaN or Inf or the iteration did not converge, and the results are then undefined. Throws
/// `InvalidArgument` if shapes do not fit. Sources: Golub & Van Loan, Matrix Computations, 8.6.3
/// (Jacobi rotations); Drmač & Veselić, SIAM J. Matrix Anal. Appl. 29 (2008) 1322 (why to start the
/// rotations from a nearly diagonal matrix).
bool singular_value_decomposition(ConstSmallView<double, HostSpace> R,
                                  SmallView<double, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<double, HostSpace> V);
bool singular_value_decomposition(ConstSmallView<std::complex<double>, HostSpace> R,
                                  SmallView<std::complex<double>, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<std::complex<double>, HostSpace> V);

/// Rank and error of the solutions of `least_squares_solution`.
struct LeastSquaresFit {
  Index rank = 0;  ///< of A with columns scaled to norm 1, to `epsilon`
  /// Of each column x: an estimate of the relative error that rounding leaves in x with the columns
  /// of A scaled to norm 1, ε(κ + κ²‖b − A x‖/(‖A‖‖x‖)), κ from the factor of the leading columns.
  std::vector<double> errors{};
};

/// X ← the X nearest to X (n×s) among those that minimise ‖b − A x‖₂ for the columns of B (m×s) and
/// the m×n A, of any shape. Of least norm, if X is 0. A is overwritten. Its columns are scaled to
/// norm 1, factored by Householder's method, and again with pivots. `epsilon`: relative rounding
/// errors of the entries of A. Pivots up to max(m, n)·epsilon of the first one count as zero.
/// Allocates. Nothing if A or B holds NaN or Inf. Throws `InvalidArgument` if shapes do not fit.
/// Source: Golub & Van Loan, Matrix Computations, 5.3 and 5.5; Higham, Accuracy and Stability of
/// Numerical Algorithms, chapter 20 (the error).
std::optional<LeastSquaresFit> least_squares_solution(SmallView<double, HostSpace> A,
                                                      ConstSmallView<double, HostSpace> B,
                                                      SmallView<double, HostSpace> X,
                                                      double epsilon);
std::optional<LeastSquaresFit> least_squares_solution(
    SmallView<std::complex<double>, HostSpace> A, ConstSmallView<std::complex<double>, HostSpace> B,
    SmallView<std::complex<double>, HostSpace> X, double epsilon);

/// Eigendecomposition of symmetric matrices: H Z = Z diag(θ), θ ascending, ZᵀZ = I.
///
/// It keeps its working memory: a call whose order is not larger than that of an earlier call
/// allocates nothing. Source: Golub & Van Loan, Matrix Computations, 8.3 (Householder
/// tridiagonalisation, implicit QR steps with Wilkinson's shift).
template <WideScalar W>
class HostEigensolver {
 public:
  /// H is m×m (only its lower triangle is read), theta m×1, Z m×m. Z may be H. Returns false if the
  /// iteration did not converge or H holds NaN or Inf, and theta and Z are then undefined.
  bool compute(HostContext& context, ConstSmallView<W, HostSpace> H,
               SmallView<double, HostSpace> theta, SmallView<W, HostSpace> Z);

 private:
  Buffer<W, HostSpace> work_;
};

/// That of a context, for real matrices.
template <class Ctx>
class SymmetricEigensolver;

template <>
class SymmetricEigensolver<HostContext> : public HostEigensolver<double> {};

class CudaContext;

// The same operations in device memory. A call queues its work on the context's stream.

void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<double, DeviceSpace> T,
                              SmallView<double, DeviceSpace> N,
                              SmallView<double, DeviceSpace> status);
void cholesky_qr_coefficients(CudaContext& context,
                              ConstSmallView<std::complex<double>, DeviceSpace> T,
                              SmallView<std::complex<double>, DeviceSpace> N,
                              SmallView<double, DeviceSpace> status);

void small_multiply(CudaContext& context, double alpha, ConstSmallView<double, DeviceSpace> A,
                    bool transpose_a, ConstSmallView<double, DeviceSpace> B, bool transpose_b,
                    double beta, SmallView<double, DeviceSpace> C);
void small_multiply(CudaContext& context, double alpha,
                    ConstSmallView<std::complex<double>, DeviceSpace> A, bool transpose_a,
                    ConstSmallView<std::complex<double>, DeviceSpace> B, bool transpose_b,
                    double beta, SmallView<std::complex<double>, DeviceSpace> C);

}  // namespace heddle
