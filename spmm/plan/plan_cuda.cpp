#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/kernels/cuda/scale.hpp>
#include <heddle/spmm/kernels/matrix_kernels.hpp>
#include <heddle/spmm/select/measure.hpp>
#include <heddle/spmm/spmm.hpp>
#include <heddle/spmm/transpose/indexed_transpose_cuda.hpp>
#include <heddle/spmm/transpose/stored_transpose.hpp>
#include <limits>
#include <map>
#include <optional>

namespace heddle {
namespace {

/// The rules of choice, and the choice by a kernel's name.
enum class Choosing { by_features, by_row_mean, by_measuring, by_name };

struct Asked {
  Choosing choosing;
  std::string_view kernel = {};  ///< for `by_name`
};

Asked parse_kernel(const std::string& name) {
  if (name == "auto" || name == "rule") return {Choosing::by_features};
  if (name == "rule_row_mean") return {Choosing::by_row_mean};
  if (name == "measure") return {Choosing::by_measuring};
  const auto& table = detail::cuda_kernel_table();
  if (const auto* row = table.find(name)) return {Choosing::by_name, row->traits.name};
  throw InvalidArgument(fmt::format(
      "SpMM kernel '{}' is not known for CUDA; known: auto, rule, rule_row_mean, measure, {}", name,
      fmt::join(table.names(), ", ")));
}

/// Throws unless C = op(A) B fits, where op(A) is rows×cols, and the kernels can address B.
template <Scalar T>
void check_shapes(std::string_view product, const CsrView<T, DeviceSpace>& A, Index rows,
                  Index cols, const ConstBlockView<T, DeviceSpace>& B,
                  const BlockView<T, DeviceSpace>& C) {
  if (B.rows() != cols || C.rows() != rows || B.cols() != C.cols()) {
    throw InvalidArgument(fmt::format("{} does not fit: A is {}x{}, B is {}x{}, C is {}x{}",
                                      product, A.rows, A.cols, B.rows(), B.cols(), C.rows(),
                                      C.cols()));
  }
  constexpr Index kMaxPitch = std::numeric_limits<std::uint32_t>::max();
  if (B.ld() > kMaxPitch / static_cast<Index>(sizeof(T))) {
    throw InvalidArgument(
        fmt::format("{}: rows of B lie {} values apart, at most {} bytes are possible", product,
                    B.ld(), kMaxPitch));
  }
}

/// Counts a product that moves at least `compulsory_bytes` beside C's old values, for α ≠ 0.
template <Scalar T>
void count_product(CudaContext& context, const detail::cuda::SpmmProduct<T>& product,
                   double compulsory_bytes) {
  const double c_entries = static_cast<double>(product.A.rows) * static_cast<double>(product.N);
  const double c_bytes = c_entries * sizeof(T);
  const double c_reads = product.beta == T{0} ? 0 : c_bytes;
  if (product.alpha == T{0}) {
    context.profile().count(c_bytes + c_reads, 0);
  } else {
    context.profile().count(compulsory_bytes + c_reads, 2 * static_cast<double>(product.A.nnz) *
                                                            static_cast<double>(product.N));
  }
}

}  // namespace

template <Scalar T>
struct SpmmPlan<T, CudaContext>::State {
  /// The choice for one width, and its kernel.
  struct Prepared {
    KernelChoice choice;
    detail::KernelPlan<T, DeviceSpace>* kernel;
  };

  detail::MatrixKernels<T, DeviceSpace> kernels;
  Asked asked;
  SpmmOptions options;
  std::map<Index, Prepared> prepared = {};  ///< by N
  std::optional<detail::cuda::IndexedTranspose<T>> indexed = {};
  std::optional<detail::StoredTranspose<T, CudaContext>> stored = {};

  KernelChoice choose(Index N) const {
    switch (asked.choosing) {
      case Choosing::by_row_mean:
        return detail::choose_by_row_mean(kernels.features());
      case Choosing::by_name:
        return {asked.kernel, "asked for"};
      case Choosing::by_features:
      case Choosing::by_measuring:
        break;
    }
    return choose_by_features(kernels.features(), N, sizeof(T));
  }

  const Prepared& prepare(CudaContext& context, Index N, KernelChoice choice) {
    auto& kernel = kernels.get(context, *detail::cuda_kernel_table().find(choice.kernel));
    kernel.prepare(context, N);
    return prepared.emplace(N, Prepared{std::move(choice), &kernel}).first->second;
  }

  /// The kernel for the product's N. With "measure", the first call for a width times the kernels
  /// with this product.
  detail::KernelPlan<T, DeviceSpace>& kernel_for(CudaContext& context,
                                                 const detail::cuda::SpmmProduct<T>& product) {
    const auto found = prepared.find(product.N);
    if (found != prepared.end()) return *found->second.kernel;
    KernelChoice choice = asked.choosing == Choosing::by_measuring
                              ? detail::cuda::choose_by_measuring(context, kernels, product)
                              : choose(product.N);
    return *prepare(context, product.N, std::move(choice)).kernel;
  }

  const detail::cuda::IndexedTranspose<T>& indexed_transpose(CudaContext& context) {
    if (!indexed) indexed.emplace(context, kernels.matrix());
    return *indexed;
  }

  const SpmmPlan& stored_transpose(CudaContext& context) {
    if (!stored) {
      HostContext host;
      HostCsrMatrix<T> At = transpose<T>(host, fetch(context, host, kernels.matrix()).view());
      stored.emplace(context, place(context, std::move(At)), options);
    }
    return stored->plan();
  }
};

template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                                   const SpmmOptions& options)
    : state_(std::make_unique<State>(
          State{detail::MatrixKernels<T, DeviceSpace>(A, detail::cuda::device_features(context, A)),
                parse_kernel(options.kernel), options})) {}

template <Scalar T>
SpmmPlan<T, CudaContext>::~SpmmPlan() = default;
template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <Scalar T>
SpmmPlan<T, CudaContext>& SpmmPlan<T, CudaContext>::operator=(SpmmPlan&&) noexcept = default;

template <Scalar T>
void SpmmPlan<T, CudaContext>::prepare(CudaContext& context, Index N) const {
  State& state = *state_;
  const bool by_measuring = state.asked.choosing == Choosing::by_measuring;
  if (N <= 0 || by_measuring || state.prepared.contains(N)) return;
  state.prepare(context, N, state.choose(N));
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::multiply(CudaContext& context, T alpha,
                                        ConstBlockView<T, DeviceSpace> B, T beta,
                                        BlockView<T, DeviceSpace> C) const {
  const CsrView<T, DeviceSpace>& A = state_->kernels.matrix();
  check_shapes("C = A B", A, A.rows, A.cols, B, C);
  if (C.empty()) return;
  const detail::cuda::SpmmProduct<T> product = {A,      B.data(), B.ld(), C.data(),
                                                C.ld(), C.cols(), alpha,  beta};
  detail::cuda::run_or_scale(context, state_->kernel_for(context, product), product);
  count_product(context, product, compulsory_bytes(C.cols()));
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::prepare_transposed(CudaContext& context, Index N) const {
  if (state_->options.transpose == SpmmTranspose::stored) {
    state_->stored_transpose(context).prepare(context, N);
  } else {
    state_->indexed_transpose(context);
  }
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::multiply_transposed(CudaContext& context, T alpha,
                                                   ConstBlockView<T, DeviceSpace> B, T beta,
                                                   BlockView<T, DeviceSpace> C) const {
  const CsrView<T, DeviceSpace>& A = state_->kernels.matrix();
  check_shapes("C = AᵀB", A, A.cols, A.rows, B, C);
  if (C.empty()) return;
  if (state_->options.transpose == SpmmTranspose::stored && alpha != T{0}) {
    return state_->stored_transpose(context).multiply(context, alpha, B, beta, C);
  }
  const CsrView<T, DeviceSpace> At = {A.cols, A.rows, A.nnz, nullptr, nullptr, nullptr};
  const detail::cuda::SpmmProduct<T> product = {At,     B.data(), B.ld(), C.data(),
                                                C.ld(), C.cols(), alpha,  beta};
  if (alpha == T{0}) {
    detail::cuda::launch_scale(context, product);
    count_product(context, product, 0);
  } else {
    const detail::cuda::IndexedTranspose<T>& indexed = state_->indexed_transpose(context);
    indexed.run(context, product);
    count_product(context, product, indexed.compulsory_bytes(C.cols()));
  }
}

template <Scalar T>
double SpmmPlan<T, CudaContext>::compulsory_bytes(Index N) const noexcept {
  const CsrView<T, DeviceSpace>& A = state_->kernels.matrix();
  return static_cast<double>(A.nnz) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(A.rows + A.cols) * static_cast<double>(N) * sizeof(T);
}

template <Scalar T>
std::string_view SpmmPlan<T, CudaContext>::kernel(Index N) const {
  const auto found = state_->prepared.find(N);
  return found != state_->prepared.end() ? found->second.choice.kernel : state_->choose(N).kernel;
}

template <Scalar T>
std::string SpmmPlan<T, CudaContext>::reason(Index N) const {
  const auto found = state_->prepared.find(N);
  return found != state_->prepared.end() ? found->second.choice.reason : state_->choose(N).reason;
}

const std::vector<std::string_view>& spmm_kernels(const CudaContext&) {
  return detail::cuda_kernel_table().names();
}

#define HEDDLE_INSTANTIATE(T) template class SpmmPlan<T, CudaContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
