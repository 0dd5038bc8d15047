#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/epilogue.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/plan/product_checks.hpp>
#include <heddle/spmm/plan/remote_product.hpp>
#include <heddle/spmm/select/select.hpp>
#include <heddle/spmm/spmm.hpp>
#include <heddle/spmm/transpose/indexed_transpose_host.hpp>
#include <heddle/spmm/transpose/stored_transpose.hpp>
#include <optional>

namespace heddle {
namespace {

bool is_choice(const std::string& asked) {
  const auto& ways = spmm_choices();
  return std::find(ways.begin(), ways.end(), asked) != ways.end();
}

/// The kernel of that name. For a rule of choice, it is the kernel of `choose_on_host`.
const detail::KernelRow<HostSpace>& choose_kernel(const std::string& asked) {
  const auto& table = detail::host_kernel_table();
  const auto* row = table.find(is_choice(asked) ? detail::choose_on_host() : asked);
  if (row != nullptr) return *row;
  throw InvalidArgument(fmt::format("SpMM kernel '{}' is not known on the host; known: {}, {}",
                                    asked, fmt::join(spmm_choices(), ", "),
                                    fmt::join(table.names(), ", ")));
}

/// C = β C + γ B' + δ X, Y = Y + η C: the product without α A B.
template <Scalar T>
void apply_epilogue(HostContext& context, const detail::SpmmProduct<T, HostSpace>& p) {
  const double bytes = static_cast<double>(p.A.rows * p.N) * sizeof(T);
  parallel_for(team_size(context.threads(), 2 * bytes, 0), p.A.rows, [&](Index i) {
    for (Index j = 0; j < p.N; ++j) {
      T c[1] = {p.beta == T{0} ? T{0} : p.beta * p.C[i * p.ldc + j]};
      detail::finish_row(p, i, detail::OneColumn<T>{j}, c);
    }
  });
}

}  // namespace

template <Scalar T>
struct SpmmPlan<T, HostContext>::State {
  CsrView<T, HostSpace> A;
  SpmmOptions options;
  const detail::KernelRow<HostSpace>& row;
  std::unique_ptr<detail::KernelPlan<T, HostSpace>> kernel;         ///< that of `row`
  std::optional<detail::IndexedTranspose<RealOf<T>>> indexed = {};  ///< for real matrices only
  std::optional<detail::StoredTranspose<T, HostContext>> stored = {};
  std::unique_ptr<detail::RemoteProduct<T, HostContext>> remote =
      {};  ///< null: A has no remote columns

  /// The product with the columns of this process. Its C is not empty.
  void run(HostContext& context, const detail::SpmmProduct<T, HostSpace>& product) {
    if (product.alpha == T{0}) {
      apply_epilogue(context, product);
    } else if (row.traits.epilogue || !product.has_epilogue()) {
      kernel->run(context, product);
    } else {
      kernel->run(context, product.without_epilogue());
      apply_epilogue(context, product.epilogue_alone());
    }
  }

  detail::IndexedTranspose<RealOf<T>>& indexed_transpose(HostContext& context) {
    if constexpr (RealScalar<T>) {
      if (!indexed) indexed.emplace(context, A);
    }
    return *indexed;
  }

  const SpmmPlan& stored_transpose(HostContext& context) {
    if (!stored) stored.emplace(context, adjoint(context, A), options);
    return stored->plan();
  }
};

template <Scalar T>
SpmmPlan<T, HostContext>::SpmmPlan(HostContext& context, DistributedCsrView<T, HostSpace> A,
                                   const SpmmOptions& options)
    : state_(
          std::make_unique<State>(State{A.own, options, choose_kernel(options.kernel), nullptr})) {
  detail::KernelMatrix<T, HostSpace> matrix{A.own, {}};
  state_->kernel = state_->row.make(context, matrix);
  if (A.is_distributed()) {
    state_->remote =
        std::make_unique<detail::RemoteProduct<T, HostContext>>(context, *A.remote, options);
  }
}

template <Scalar T>
SpmmPlan<T, HostContext>::~SpmmPlan() = default;
template <Scalar T>
SpmmPlan<T, HostContext>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <Scalar T>
SpmmPlan<T, HostContext>& SpmmPlan<T, HostContext>::operator=(SpmmPlan&&) noexcept = default;

template <Scalar T>
void SpmmPlan<T, HostContext>::multiply(HostContext& context, T alpha,
                                        ConstBlockView<T, HostSpace> B, T beta,
                                        BlockView<T, HostSpace> C) const {
  multiply(context, alpha, B, SpmmEpilogue<T, HostSpace>{.beta = beta}, C);
}

template <Scalar T>
void SpmmPlan<T, HostContext>::multiply(HostContext& context, T alpha,
                                        ConstBlockView<T, HostSpace> B,
                                        const SpmmEpilogue<T, HostSpace>& epilogue,
                                        BlockView<T, HostSpace> C) const {
  const CsrView<T, HostSpace>& A = state_->A;
  detail::check_shapes("C = A B", A, A.rows, A.cols, B, C);
  detail::check_terms(A, epilogue, C);
  if (C.cols() == 0) return;
  // A process without rows of C still sends its rows of B.
  const bool remote = state_->remote != nullptr && alpha != T{0};
  if (remote) state_->remote->begin(context, B);
  if (!C.empty()) {
    const auto product = detail::product_of<T>(A, alpha, B, epilogue, C);
    state_->run(context, product);
    detail::count_product(context, product, compulsory_bytes(C.cols()));
  }
  if (remote) state_->remote->add(context, alpha, epilogue, C);
}

template <Scalar T>
void SpmmPlan<T, HostContext>::multiply_transposed(HostContext& context, T alpha,
                                                   ConstBlockView<T, HostSpace> B, T beta,
                                                   BlockView<T, HostSpace> C) const {
  const CsrView<T, HostSpace>& A = state_->A;
  detail::check_shapes("C = AᵀB", A, A.cols, A.rows, B, C);
  if (state_->remote != nullptr) {
    throw InvalidArgument("C = AᵀB: a distributed A multiplies by its rows only, distribute Aᵀ");
  }
  if (C.empty()) return;
  const bool stored = kComplex<T> || state_->options.transpose == SpmmTranspose::stored;
  if (stored && alpha != T{0}) {
    return state_->stored_transpose(context).multiply(context, alpha, B, beta, C);
  }
  const CsrView<T, HostSpace> At = {A.cols, A.rows, A.nnz, nullptr, nullptr, nullptr};
  const auto product = detail::product_of<T>(At, alpha, B, {.beta = beta}, C);
  if (alpha == T{0}) {
    apply_epilogue(context, product);
    detail::count_product(context, product, 0);
  } else if constexpr (RealScalar<T>) {
    detail::IndexedTranspose<T>& indexed = state_->indexed_transpose(context);
    indexed.run(context, product);
    detail::count_product(context, product, indexed.compulsory_bytes(C.cols()));
  }
}

template <Scalar T>
double SpmmPlan<T, HostContext>::compulsory_bytes(Index N) const noexcept {
  const CsrView<T, HostSpace>& A = state_->A;
  return static_cast<double>(A.nnz) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(A.rows + A.cols) * static_cast<double>(N) * sizeof(T);
}

template <Scalar T>
std::string_view SpmmPlan<T, HostContext>::kernel(Index) const noexcept {
  return state_->row.traits.name;
}

template <Scalar T>
std::string SpmmPlan<T, HostContext>::reason(Index N) const {
  return is_choice(state_->options.kernel)
             ? state_->kernel->reason(N)
             : fmt::format("{} was asked for", state_->row.traits.name);
}

const std::vector<std::string_view>& spmm_kernels(const HostContext&) {
  return detail::host_kernel_table().names();
}

#define HEDDLE_INSTANTIATE(T) template class SpmmPlan<T, HostContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
