#pragma once

#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/cg/column_order.hpp>
#include <heddle/solvers/preconditioners/adaptive/cg_coefficients.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <optional>

namespace heddle::detail {

/// The products of a solve with A and the preconditioner, and the norms that they yield.
template <Scalar T, class Ctx>
class ColumnProducts {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = LinearColumnsStorage<T, Ctx>;
  using Stop = StopControl::Stop;

  /// Everything is kept by reference and must outlive the solve.
  ColumnProducts(Ctx& context, const LinearSystem<T, Ctx>& system, ColumnOrder<T, Ctx>& order,
                 Storage& storage)
      : context_(context),
        system_(system),
        order_(order),
        s_(storage),
        preconditioner_(schedule_of(system.preconditioner, own_)),
        applications_before_(system.A->columns_applied()) {}

  /// Returns a stop if products with random columns show that the preconditioner is not symmetric
  /// positive definite, also in full precision. R is scratch memory.
  std::optional<Stop> probe_preconditioner();

  /// Raises the precision of the preconditioner by a step. False if it is in full precision.
  bool raise_preconditioner();

  /// Q = A P, counted as a matrix pass.
  void multiply_A(ConstBlockView<T, Space> P, Block Q);

  /// M⁻¹R for the active columns. If M = I, this is R itself. Otherwise it is computed in Z,
  /// which is made anew where it has too few columns, and r_jᵀM⁻¹r_j are added to the packet.
  /// `norms` are the ‖r_j‖ (s×1, in the memory of R).
  ConstBlockView<T, Space> precondition(ConstSmallView<double, Space> norms,
                                        MultiVector<T, Space>& Z);

  /// Calls take(M⁻¹R), with the block of `precondition`, or on the host with a `ScaledView` of what
  /// M keeps in single precision. Loops for a single column gain nothing by that.
  template <class Take>
  void precondition(ConstSmallView<double, Space> norms, MultiVector<T, Space>& Z,
                    const Take& take) {
    if constexpr (std::same_as<T, double> && std::same_as<Space, HostSpace>) {
      if (const auto MR = kept_product(norms)) return take(*MR);
    }
    take(precondition(norms, Z));
  }

  /// Takes ‖r_j‖ of the active columns, and r_jᵀM⁻¹r_j from the fetched packet. Returns a stop if
  /// they are not finite, or show that M is not positive definite.
  std::optional<Stop> measure(ConstSmallView<double, HostSpace> norms);

  /// Takes p'Ap of the step along p = z + β p that led to the energies which `measure` took last,
  /// for a single active column.
  void note_step(double energy_of_step);

  /// To be called where directions begin with R alone: steps are not consecutive any more.
  void forget_steps() noexcept {
    steps_.clear();
    norm_before_steps_ = s_.ledger[0].norm;
  }

  /// Lets the preconditioner choose by the steps that are expected, once there were as many as it
  /// wants. Whether another stage has taken over.
  bool choose_preconditioner();

  /// R ← B − A X, ‖r‖ and ‖x‖ for the first `count` columns.
  void fresh_residuals(Index count);

  /// Replaces initial guesses whose residuals are not finite, or so large that rounding would hide
  /// b, by zero. For the first `count` columns, after `fresh_residuals`.
  void drop_useless_guesses(Index count);

  /// Columns multiplied by A since the solve began.
  Index applications() const { return system_.A->columns_applied() - applications_before_; }

  /// Saves or loads `applications()` and the state of the preconditioner.
  void archive(Archive& archive);

 private:
  std::optional<Stop> probe();
  std::optional<ScaledView<float, Space>> kept_product(ConstSmallView<double, Space> norms);
  double expected_steps() const;

  Ctx& context_;
  const LinearSystem<T, Ctx>& system_;
  ColumnOrder<T, Ctx>& order_;
  Storage& s_;
  std::optional<PreconditionerSchedule<T, Ctx>> own_;
  PreconditionerSchedule<T, Ctx>* preconditioner_;  // M. Null: M = I
  typename Packet<Ctx>::Part energies_{};           // r_jᵀM⁻¹r_j, if M ≠ I
  Index applications_before_;
  CgCoefficients steps_;
  double norm_before_steps_ = 0;  // ‖r‖ of the first column
};

}  // namespace heddle::detail
