#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
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

/// Throws unless C = op(A) B fits, where op(A) is rows×cols.
template <Scalar T>
void check_shapes(std::string_view product, const CsrView<T, HostSpace>& A, Index rows, Index cols,
                  const ConstBlockView<T, HostSpace>& B, const BlockView<T, HostSpace>& C) {
  if (B.rows() == cols && C.rows() == rows && B.cols() == C.cols()) return;
  throw InvalidArgument(fmt::format("{} does not fit: A is {}x{}, B is {}x{}, C is {}x{}", product,
                                    A.rows, A.cols, B.rows(), B.cols(), C.rows(), C.cols()));
}

/// Bytes of C's old values, 0 if they are not read.
template <Scalar T>
double bytes_read(T beta, const BlockView<T, HostSpace>& C) {
  return beta == T{0} ? 0 : static_cast<double>(C.rows() * C.cols()) * sizeof(T);
}

template <Scalar T>
double flops(const CsrView<T, HostSpace>& A, Index N) {
  return 2 * static_cast<double>(A.nnz) * static_cast<double>(N);
}

/// C = β C, the product for α = 0.
template <Scalar T>
void scale_block(HostContext& context, T beta, const BlockView<T, HostSpace>& C) {
  const double written = static_cast<double>(C.rows() * C.cols()) * sizeof(T);
  const double bytes = written + bytes_read(beta, C);
  parallel_for(team_size(context.threads(), bytes, 0), C.rows(), [&](Index i) {
    for (Index j = 0; j < C.cols(); ++j) C(i, j) = beta == T{0} ? T{0} : beta * C(i, j);
  });
  context.profile().count(bytes, 0);
}

}  // namespace

template <Scalar T>
struct SpmmPlan<T, HostContext>::State {
  CsrView<T, HostSpace> A;
  SpmmOptions options;
  const detail::KernelRow<HostSpace>& row;
  std::unique_ptr<detail::KernelPlan<T, HostSpace>> kernel;  ///< that of `row`
  std::optional<detail::IndexedTranspose<T>> indexed = {};
  std::optional<detail::StoredTranspose<T, HostContext>> stored = {};

  detail::IndexedTranspose<T>& indexed_transpose(HostContext& context) {
    if (!indexed) indexed.emplace(context, A);
    return *indexed;
  }

  const SpmmPlan& stored_transpose(HostContext& context) {
    if (!stored) stored.emplace(context, transpose(context, A), options);
    return stored->plan();
  }
};

template <Scalar T>
SpmmPlan<T, HostContext>::SpmmPlan(HostContext& context, CsrView<T, HostSpace> A,
                                   const SpmmOptions& options)
    : state_(std::make_unique<State>(State{A, options, choose_kernel(options.kernel), nullptr})) {
  detail::KernelMatrix<T, HostSpace> matrix{A, {}};
  state_->kernel = state_->row.make(context, matrix);
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
  const CsrView<T, HostSpace>& A = state_->A;
  check_shapes("C = A B", A, A.rows, A.cols, B, C);
  if (C.empty()) return;
  if (alpha == T{0}) return scale_block(context, beta, C);
  state_->kernel->run(context, {A, B.data(), B.ld(), C.data(), C.ld(), C.cols(), alpha, beta});
  context.profile().count(compulsory_bytes(C.cols()) + bytes_read(beta, C), flops(A, C.cols()));
}

template <Scalar T>
void SpmmPlan<T, HostContext>::multiply_transposed(HostContext& context, T alpha,
                                                   ConstBlockView<T, HostSpace> B, T beta,
                                                   BlockView<T, HostSpace> C) const {
  const CsrView<T, HostSpace>& A = state_->A;
  check_shapes("C = AᵀB", A, A.cols, A.rows, B, C);
  if (C.empty()) return;
  if (alpha == T{0}) return scale_block(context, beta, C);
  if (state_->options.transpose == SpmmTranspose::stored) {
    return state_->stored_transpose(context).multiply(context, alpha, B, beta, C);
  }
  detail::IndexedTranspose<T>& At = state_->indexed_transpose(context);
  At.multiply(context, alpha, B, beta, C);
  context.profile().count(At.compulsory_bytes(C.cols()) + bytes_read(beta, C), flops(A, C.cols()));
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
