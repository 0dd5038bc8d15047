#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/solvers/factor/cudss_factor.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <utility>

namespace heddle::detail {
namespace {

template <Scalar T>
class CudssSolves final : public ShiftedSolves<T, CudaContext> {
 public:
  CudssSolves(CudaContext& context, const CsrView<double, HostSpace>& A,
              const CsrView<double, HostSpace>& B, double max_bytes, bool deterministic)
      : shifted_(A, B, factor_library("cuDSS"),
                 [&](const CsrView<double, HostSpace>& lower) {
                   auto made =
                       std::make_unique<CudssFactor>(context, lower, max_bytes, deterministic);
                   solver_ = &made->solver();
                   return made;
                 }),
        scaling_(context, static_cast<std::size_t>(A.rows)) {}

  ShiftedFactor& shifted() noexcept override { return shifted_; }

  bool factor(CudaContext& context, double sigma) override {
    if (!shifted_.factor(sigma)) return false;
    const std::vector<double>& scaling = shifted_.scaling();
    context.copy_to_device(scaling_.data(), scaling.data(), scaling.size() * sizeof(double));
    return true;
  }

  /// cuDSS is asked for no refinement: the host refines where it is needed.
  void solve(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             BlockView<T, DeviceSpace> Y) override {
    if (shifted_.refinements() > 0) return solve_on_host<T>(context, shifted_, X, Y);
    solver_->solve<T>(context, kCudssSolve, X, Y, scaling_.data());
  }

 private:
  CudssSolver* solver_ = nullptr;  // of the factor in `shifted_`
  ShiftedFactor shifted_;
  Buffer<double, DeviceSpace> scaling_;
};

}  // namespace

template <Scalar T>
std::unique_ptr<ShiftedSolves<T, CudaContext>> cudss_solves(CudaContext& context,
                                                            const CsrView<T, DeviceSpace>& A,
                                                            const CsrView<T, DeviceSpace>& B,
                                                            double max_bytes, bool deterministic) {
  HostContext host{1};
  return std::make_unique<CudssSolves<T>>(context, on_host<T>(host, context, A).view(),
                                          on_host<T>(host, context, B).view(), max_bytes,
                                          deterministic);
}

#define HEDDLE_INSTANTIATE(T)                                           \
  template std::unique_ptr<ShiftedSolves<T, CudaContext>> cudss_solves( \
      CudaContext&, const CsrView<T, DeviceSpace>&, const CsrView<T, DeviceSpace>&, double, bool);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
