#include <heddle/spmm/kernels/host/reference/reference_kernel.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {
namespace {

template <class T>
class ReferencePlan : public KernelPlan<T, HostSpace> {
 public:
  ReferencePlan(HostContext&, const KernelMatrix<T, HostSpace>&) {}

  void run(HostContext&, const SpmmProduct<T, HostSpace>& p) override {
    SpmmEpilogue<T, HostSpace> epilogue{
        .beta = p.beta, .gamma = p.gamma, .delta = p.delta, .eta = p.eta};
    if (p.delta != T{0}) epilogue.X = {p.X, p.A.rows, p.N, p.ldx};
    if (p.eta != T{0}) epilogue.Y = {p.Y, p.A.rows, p.N, p.ldy};
    reference_spmm<T>(Wide<T>(p.alpha), p.A, {p.B, p.A.cols, p.N, p.ldb}, epilogue,
                      {p.C, p.A.rows, p.N, p.ldc});
  }
};

}  // namespace

KernelMakers<HostSpace> ReferenceKernel::makers() {
  return makers_of<ReferenceKernel, ReferencePlan, HostSpace>();
}

}  // namespace heddle::detail
