#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <vector>

namespace heddle::detail {
namespace {

HostCsrMatrix<double> real_form(HostContext&, HostCsrMatrix<double> A) { return A; }
HostCsrMatrix<double> real_form(HostContext& host, const HostCsrMatrix<std::complex<double>>& A) {
  return A.rows() == 0 ? HostCsrMatrix<double>() : heddle::real_form(host, A.view());
}

template <Scalar T, class Ctx>
class HostSolves final : public ShiftedSolves<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  HostSolves(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
             double max_bytes, const FactorLibraryRow& library)
      : shifted_(A, B, library, [&](const CsrView<double, HostSpace>& lower) {
          return (kComplex<T> ? library.make_hermitian : library.make)(lower, max_bytes);
        }) {}

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
  std::vector<Wide<T>> solved = by_columns<T>(block.view());
  factor.solve(real_numbers(solved.data()), columns);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      block.view()(i, j) = static_cast<T>(solved[static_cast<std::size_t>(j * n + i)]);
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
  return std::make_unique<HostSolves<T, Ctx>>(real_form(host, on_host<T>(host, context, A)).view(),
                                              real_form(host, on_host<T>(host, context, B)).view(),
                                              max_bytes, library);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                          \
  template void solve_on_host(Ctx&, ShiftedFactor&, ConstBlockView<T, typename Ctx::Space>, \
                              BlockView<T, typename Ctx::Space>);                           \
  template std::unique_ptr<ShiftedSolves<T, Ctx>> host_solves(                              \
      Ctx&, const CsrView<T, typename Ctx::Space>&, const CsrView<T, typename Ctx::Space>&, \
      double, const FactorLibraryRow&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
