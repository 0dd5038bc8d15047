#pragma once

#include <functional>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/factor_library.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle {
namespace detail {
struct FactorCost;
template <Scalar T, class Ctx>
class InverseFactor;
}  // namespace detail

/// Y = (A − σB)⁻¹ X for a positive definite A − σB, by its sparse Cholesky factorisation. This
/// shift-and-invert transformation turns the smallest eigenvalues λ of A x = λ B x into the largest
/// eigenvalues 1/(λ − σ) of (A − σB)⁻¹B.
///
/// The constructor computes nothing, so that a solver can be given a `ShiftedInverse` that it may
/// never use. The cost of a factorisation is first estimated in linear time. The rows are ordered
/// when the estimate or the caller asks for it. Then the cost is known. `factor` factors in double:
/// A − σB = Pᵀ L Lᵀ P. CHOLMOD and Eigen factor on the host, and the triangular systems are solved
/// by levels of rows; cuDSS does both on the GPU. Because B is positive definite, the existence of
/// a factor proves that σ is smaller than every eigenvalue (Sylvester's law of inertia). If B is
/// only semidefinite, this holds for the finite eigenvalues.
///
/// The solves are backward stable: Y is exact for a matrix that differs from A − σB by rounding
/// errors. Therefore residuals of eigenpairs reach ε‖A‖ for any condition number of A − σB, without
/// iterative refinement. Source: Ericsson & Ruhe, Math. Comp. 35 (1980) 1251 (the transformation).
template <Scalar T, class Ctx>
class ShiftedInverse final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  /// The type of A and B.
  using Matrix = CsrView<T, Space>;

  /// The limit of host memory if the caller sets none, in bytes.
  static constexpr double kDefaultMaxBytes = 4.0 * 1024 * 1024 * 1024;

  /// A and B are symmetric, lie in the context's memory and must outlive this object. A B without
  /// rows stands for the identity. `max_bytes` limits the host memory of the factorisation and the
  /// context's memory of the factor. Throws `InvalidArgument` if A is not square or B has another
  /// shape. A `library` that cannot be used makes the first call that needs it throw: `DeviceError`
  /// if cuDSS cannot be loaded, `InvalidArgument` for cuDSS with a matrix on the host.
  explicit ShiftedInverse(Matrix A, Matrix B = {}, double max_bytes = kDefaultMaxBytes,
                          FactorLibrary library = FactorLibrary::automatic);
  ~ShiftedInverse() override;

  /// `stage` is called when the ordering or a factorisation begins, and when the factorisation has
  /// ended, with a few words on what follows. `matrix`: the name of A − σB there.
  void set_stage(std::function<void(std::string_view)> stage, std::string matrix) {
    stage_ = std::move(stage);
    matrix_ = std::move(matrix);
  }

  /// Whether one factorisation and solves for `columns` columns cost less than `products` products
  /// of A with one column, and the factor fits into `max_bytes`. The rows are ordered only if the
  /// ordering, too, costs less than that by an estimate. The answer follows from the patterns
  /// alone.
  bool pays(Ctx& context, double columns, double products);

  /// The cost of one factorisation and of solves for `columns` columns, in units of the product of
  /// A with one column. Nothing if the factor would take more than `max_bytes`. It follows from the
  /// numbers of entries and operations. Orders the rows if that was not done before.
  std::optional<double> cost_in_products(Ctx& context, double columns);

  /// An estimate of the seconds that `factor` takes, from the number of operations. 0 if the factor
  /// would take more than `max_bytes`. Orders the rows if that was not done before.
  double seconds_to_factor(Ctx& context);

  /// Whether the rows were ordered.
  bool ordered() const noexcept { return ordered_; }

  /// An estimate of the seconds that the ordering takes. 0 once it is done.
  double seconds_to_order(Ctx& context);

  /// Factors A − σB. The factorisation cannot be interrupted. Returns false if A − σB is not
  /// positive definite, or so close to singular that a pivot is rounding noise. The inverse cannot
  /// be applied then. Throws `OutOfMemory` if the factor would take more than `max_bytes`.
  bool factor(Ctx& context, double sigma);

  double shift() const noexcept { return shift_; }  ///< σ of the last factor

  /// Y = L⁻¹P X, one half of the inverse. Y may be X.
  void apply_lower(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  /// Y = PᵀL⁻ᵀ X, the other half. Y may be X.
  void apply_upper(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  /// The number of columns solved so far, by the inverse or by its lower half.
  Index columns_solved() const noexcept { return this->columns_applied() + lower_columns_; }

  /// The number of entries of L, 0 before the first factorisation.
  double factor_entries() const noexcept;

  /// The name of the library that ordered the rows. Empty before that.
  std::string library() const;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  using Factor = detail::InverseFactor<T, Ctx>;

  Factor& library_factor(Ctx& context);
  Factor& analysed_factor(Ctx& context);
  Factor& made();
  const detail::FactorCost& estimated_cost(Ctx& context);
  double order_cost(Ctx& context);
  double in_products(double cost) const noexcept;
  void begin_stage(const std::string& name) const {
    if (stage_) stage_(name);
  }

  Matrix A_, B_;
  double max_bytes_;
  FactorLibrary choice_;
  std::function<void(std::string_view)> stage_;
  std::string matrix_;
  double shift_ = 0;
  std::unique_ptr<const detail::FactorCost> estimate_;  // empty before the cost was estimated
  Index lower_columns_ = 0;
  std::unique_ptr<Factor> factor_;  // empty before its library was chosen
  bool ordered_ = false;
};

}  // namespace heddle
