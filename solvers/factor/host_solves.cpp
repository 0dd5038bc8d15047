#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <vector>

namespace heddle::detail {
namespace {

template <Scalar T, class Ctx>
class HostSolves final : public ShiftedSolves<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  HostSolves(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
             double max_bytes, const FactorLibraryRow& library)
      : shifted_(A, B, max_bytes, library) {}

  ShiftedFactor& shifted() noexcept override { return shifted_; }
  bool factor(Ctx&, double sigma) override { return shifted_.factor(sigma); }

  void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    solve_on_host<T>(context, shifted_, X, Y);
  }

 private:
  ShiftedFactor shifted_;
};

}  // namespace

template <Scalar T, class Ctx>
void solve_on_host(Ctx& context, ShiftedFactor& factor, ConstBlockView<T, typename Ctx::Space> X,
                   BlockView<T, typename Ctx::Space> Y) {
  const Index n = X.rows(), columns = X.cols();
  HostContext host{1};
  MultiVector<T, HostSpace> block(host_of(context, host), n, columns);
  fetch<T>(context, X, block.view());
  std::vector<double> by_columns(static_cast<std::size_t>(n * columns));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      by_columns[static_cast<std::size_t>(j * n + i)] = static_cast<double>(block.view()(i, j));
    }
  }
  factor.solve(by_columns.data(), columns);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      block.view()(i, j) = static_cast<T>(by_columns[static_cast<std::size_t>(j * n + i)]);
    }
  }
  send<T>(context, block.view(), Y);
  context.synchronize();  // the copy reads `block` until then
}

template <Scalar T, class Ctx>
std::unique_ptr<ShiftedSolves<T, Ctx>> host_solves(Ctx& context,
                                                   const CsrView<T, typename Ctx::Space>& A,
                                                   const CsrView<T, typename Ctx::Space>& B,
                                                   double max_bytes,
                                                   const FactorLibraryRow& library) {
  HostContext host{1};
  return std::make_unique<HostSolves<T, Ctx>>(
      on_host<T>(host, context, A).view(), on_host<T>(host, context, B).view(), max_bytes, library);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                          \
  template void solve_on_host(Ctx&, ShiftedFactor&, ConstBlockView<T, typename Ctx::Space>, \
                              BlockView<T, typename Ctx::Space>);                           \
  template std::unique_ptr<ShiftedSolves<T, Ctx>> host_solves(                              \
      Ctx&, const CsrView<T, typename Ctx::Space>&, const CsrView<T, typename Ctx::Space>&, \
      double, const FactorLibraryRow&);
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
