#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.hpp>
#include <heddle/spmm/kernels/matrix_kernels.hpp>
#include <heddle/spmm/plan/product_checks.hpp>
#include <heddle/spmm/plan/remote_product.hpp>
#include <heddle/spmm/select/measure.hpp>
#include <heddle/spmm/select/pattern_hash.hpp>
#include <heddle/spmm/select/verdicts.hpp>
#include <heddle/spmm/spmm.hpp>
#include <heddle/spmm/transpose/indexed_transpose_cuda.hpp>
#include <heddle/spmm/transpose/stored_transpose.hpp>
#include <limits>
#include <map>
#include <optional>

namespace heddle {
namespace {

/// The ways of choice, and the choice by a kernel's name.
enum class Choosing { by_model, by_features, by_row_mean, by_measuring, by_name };

struct Asked {
  Choosing choosing;
  std::string_view kernel = {};  ///< for `by_name`
};

/// The names of the kernels that multiply matrices of values of T.
template <Scalar T>
std::vector<std::string_view> kernels_for() {
  std::vector<std::string_view> names;
  for (const auto& row : detail::cuda_kernel_table().rows()) {
    if (row.takes<T>()) names.push_back(row.traits.name);
  }
  return names;
}

template <Scalar T>
Asked parse_kernel(const std::string& name) {
  if (name == "auto") return {Choosing::by_model};
  if (name == "rule") return {Choosing::by_features};
  if (name == "rule_row_mean") return {Choosing::by_row_mean};
  if (name == "measure") return {Choosing::by_measuring};
  const auto& table = detail::cuda_kernel_table();
  if (const auto* row = table.find(name)) {
    if (row->takes<T>()) return {Choosing::by_name, row->traits.name};
    throw InvalidArgument(
        fmt::format("SpMM kernel '{}' takes real matrices only; those for complex ones: {}", name,
                    fmt::join(kernels_for<T>(), ", ")));
  }
  throw InvalidArgument(fmt::format(
      "SpMM kernel '{}' is not known for CUDA; known: auto, rule, rule_row_mean, measure, {}", name,
      fmt::join(table.names(), ", ")));
}

/// Throws unless values of T can be loaded at once. Complex numbers of the host may lie at
/// multiples of half of their size.
template <Scalar T>
void check_address(std::string_view what, const T* values) {
  if (reinterpret_cast<std::uintptr_t>(values) % sizeof(T) == 0) return;
  throw InvalidArgument(fmt::format(
      "C = A B on a GPU: the address of {} is no multiple of {} bytes", what, sizeof(T)));
}

/// Throws unless the kernels can address B and C.
template <Scalar T>
void check_blocks(const ConstBlockView<T, DeviceSpace>& B, const BlockView<T, DeviceSpace>& C) {
  check_address("B", B.data());
  check_address("C", C.data());
  constexpr Index kMaxPitch = std::numeric_limits<std::uint32_t>::max();
  if (B.ld() <= kMaxPitch / static_cast<Index>(sizeof(T))) return;
  throw InvalidArgument(fmt::format(
      "C = A B: rows of B lie {} values apart, at most {} bytes are possible", B.ld(), kMaxPitch));
}

}  // namespace

template <Scalar T>
struct SpmmPlan<T, CudaContext>::State {
  /// The choice for one width, and its kernel.
  struct Prepared {
    KernelChoice choice;
    detail::KernelPlan<T, DeviceSpace>* kernel;
    bool epilogue;  ///< as in the kernel's traits
  };

  detail::MatrixKernels<T, DeviceSpace> kernels;
  DeviceSpeed device;
  Asked asked;
  SpmmOptions options;
  std::map<Index, Prepared> prepared = {};    ///< by N
  std::optional<std::uint64_t> pattern = {};  ///< hash, for `by_measuring`
  std::optional<detail::cuda::IndexedTranspose<T>> indexed = {};
  std::optional<detail::StoredTranspose<T, CudaContext>> stored = {};
  std::unique_ptr<detail::RemoteProduct<T, CudaContext>> remote = {};  ///< null: no remote columns

  KernelChoice choose(Index N) const {
    switch (asked.choosing) {
      case Choosing::by_row_mean:
        return detail::choose_by_row_mean(kernels.features());
      case Choosing::by_name:
        return {asked.kernel, "asked for"};
      case Choosing::by_features:
        return choose_by_features(kernels.features(), N, sizeof(T));
      case Choosing::by_model:
      case Choosing::by_measuring:
        break;
    }
    return choose_by_model(kernels.features(), N, sizeof(T), device);
  }

  /// The kernel that measuring finds for the product's width, or found in this process or, with a
  /// file of verdicts, in an earlier one.
  KernelChoice choose_by_measuring(CudaContext& context,
                                   const detail::cuda::SpmmProduct<T>& product) {
    const auto names = detail::contenders(kernels.features(), product.N, sizeof(T), device);
    const CsrView<T, DeviceSpace>& A = kernels.matrix();
    if (!pattern) {
      pattern = detail::cuda::pattern_hash(context, A.rows, A.nnz, A.row_offsets, A.columns);
    }
    const detail::VerdictKey key{
        *pattern, A.rows, A.cols, A.nnz, product.N, sizeof(T), context.device().name};
    std::string warning;
    KernelChoice choice;
    const auto known = detail::verdicts().find(key, options.verdict_file, warning);
    const auto* row = known ? detail::cuda_kernel_table().find(*known) : nullptr;
    if (row != nullptr && row->takes<T>()) {
      choice = {row->traits.name, "measured earlier on this matrix and type of device"};
    } else {
      choice = detail::cuda::choose_by_measuring(context, kernels, names, product);
      detail::verdicts().keep(key, std::string(choice.kernel), options.verdict_file, warning);
    }
    if (!warning.empty()) choice.reason += "; " + warning;
    return choice;
  }

  const Prepared& prepare(CudaContext& context, Index N, KernelChoice choice) {
    const auto& row = *detail::cuda_kernel_table().find(choice.kernel);
    auto& kernel = kernels.get(context, row);
    kernel.prepare(context, N);
    context.synchronize();  // formats are complete before `run`
    return prepared.emplace(N, Prepared{std::move(choice), &kernel, row.traits.epilogue})
        .first->second;
  }

  /// The kernel for the product's N. With "measure", the first call for a width times the kernels
  /// with this product.
  const Prepared& kernel_for(CudaContext& context, const detail::cuda::SpmmProduct<T>& product) {
    const auto found = prepared.find(product.N);
    if (found != prepared.end()) return found->second;
    KernelChoice choice = asked.choosing == Choosing::by_measuring
                              ? choose_by_measuring(context, product)
                              : choose(product.N);
    return prepare(context, product.N, std::move(choice));
  }

  void run(CudaContext& context, const detail::cuda::SpmmProduct<T>& product) {
    if (product.A.nnz == 0 || product.alpha == T{0}) {
      return detail::cuda::launch_epilogue(context, product);
    }
    const Prepared& prepared_for_N = kernel_for(context, product);
    if (prepared_for_N.epilogue || !product.has_epilogue()) {
      return prepared_for_N.kernel->run(context, product);
    }
    prepared_for_N.kernel->run(context, product.without_epilogue());
    detail::cuda::launch_epilogue(context, product.epilogue_alone());
  }

  const detail::cuda::IndexedTranspose<T>& indexed_transpose(CudaContext& context) {
    if (!indexed) indexed.emplace(context, kernels.matrix());
    return *indexed;
  }

  const SpmmPlan& stored_transpose(CudaContext& context) {
    if (!stored) {
      HostContext host;
      HostCsrMatrix<T> At = adjoint<T>(host, fetch(context, host, kernels.matrix()).view());
      stored.emplace(context, place(context, std::move(At)), options);
    }
    return stored->plan();
  }
};

template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
                                   const SpmmOptions& options)
    : state_(std::make_unique<State>(
          State{detail::MatrixKernels<T, DeviceSpace>(
                    A.own, detail::cuda::device_features(context, A.own)),
                device_speed(context), parse_kernel<T>(options.kernel), options})) {
  check_address("the values of A", A.own.values);
  if (!A.is_distributed()) return;
  state_->remote =
      std::make_unique<detail::RemoteProduct<T, CudaContext>>(context, *A.remote, options);
}

template <Scalar T>
SpmmPlan<T, CudaContext>::~SpmmPlan() = default;
template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <Scalar T>
SpmmPlan<T, CudaContext>& SpmmPlan<T, CudaContext>::operator=(SpmmPlan&&) noexcept = default;

template <Scalar T>
void SpmmPlan<T, CudaContext>::prepare(CudaContext& context, Index N) const {
  State& state = *state_;
  if (state.remote != nullptr) state.remote->prepare(context, N);
  const bool by_measuring = state.asked.choosing == Choosing::by_measuring;
  if (N <= 0 || by_measuring || state.prepared.contains(N)) return;
  state.prepare(context, N, state.choose(N));
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::multiply(CudaContext& context, T alpha,
                                        ConstBlockView<T, DeviceSpace> B, T beta,
                                        BlockView<T, DeviceSpace> C) const {
  multiply(context, alpha, B, SpmmEpilogue<T, DeviceSpace>{.beta = beta}, C);
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::multiply(CudaContext& context, T alpha,
                                        ConstBlockView<T, DeviceSpace> B,
                                        const SpmmEpilogue<T, DeviceSpace>& epilogue,
                                        BlockView<T, DeviceSpace> C) const {
  const CsrView<T, DeviceSpace>& A = state_->kernels.matrix();
  detail::check_shapes("C = A B", A, A.rows, A.cols, B, C);
  detail::check_terms(A, epilogue, C);
  if (epilogue.delta != T{0}) check_address("X", epilogue.X.data());
  if (epilogue.eta != T{0}) check_address("Y", epilogue.Y.data());
  check_blocks<T>(B, C);
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
  detail::check_shapes("C = AᵀB", A, A.cols, A.rows, B, C);
  check_blocks<T>(B, C);
  if (state_->remote != nullptr) {
    throw InvalidArgument("C = AᵀB: a distributed A multiplies by its rows only, distribute Aᵀ");
  }
  if (C.empty()) return;
  if (state_->options.transpose == SpmmTranspose::stored && alpha != T{0}) {
    return state_->stored_transpose(context).multiply(context, alpha, B, beta, C);
  }
  const CsrView<T, DeviceSpace> At = {A.cols, A.rows, A.nnz, nullptr, nullptr, nullptr};
  const auto product = detail::product_of<T>(At, alpha, B, {.beta = beta}, C);
  if (alpha == T{0}) {
    detail::cuda::launch_epilogue(context, product);
    detail::count_product(context, product, 0);
  } else {
    const detail::cuda::IndexedTranspose<T>& indexed = state_->indexed_transpose(context);
    indexed.run(context, product);
    detail::count_product(context, product, indexed.compulsory_bytes(C.cols()));
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
const MatrixFeatures& SpmmPlan<T, CudaContext>::features() const noexcept {
  return state_->kernels.features();
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
