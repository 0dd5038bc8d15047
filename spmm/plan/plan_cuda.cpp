#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/kernels/cuda/scale.hpp>
#include <heddle/spmm/plan/executor.hpp>
#include <heddle/spmm/select/measure.hpp>
#include <heddle/spmm/spmm.hpp>
#include <heddle/spmm/transpose/indexed_transpose_cuda.hpp>
#include <heddle/spmm/transpose/stored_transpose.hpp>
#include <limits>
#include <map>
#include <optional>

namespace heddle {
namespace {

/// The ways to choose that are not a kernel's name.
enum class Choosing { by_features, by_row_mean, by_measuring, by_name };

struct Asked {
  Choosing choosing;
  CudaKernel kernel;  ///< for `by_name`
};

Asked parse_kernel(const std::string& name) {
  if (name == "auto" || name == "rule") return {Choosing::by_features, {}};
  if (name == "rule_row_mean") return {Choosing::by_row_mean, {}};
  if (name == "measure") return {Choosing::by_measuring, {}};
  if (const auto kernel = cuda_kernel_named(name)) return {Choosing::by_name, *kernel};
  throw InvalidArgument(fmt::format(
      "SpMM kernel '{}' is not known for CUDA; known: auto, rule, rule_row_mean, measure, {}", name,
      fmt::join(cuda_kernel_names(), ", ")));
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
void count_product(CudaContext& context, const cuda::SpmmProduct<T>& product,
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
  cuda::SpmmExecutor<T> executor;
  Asked asked;
  SpmmOptions options;
  std::map<Index, KernelChoice> prepared = {};  ///< by N
  std::optional<cuda::IndexedTranspose<T>> indexed = {};
  std::optional<detail::StoredTranspose<T, CudaContext>> stored = {};

  KernelChoice choose(Index N) const {
    switch (asked.choosing) {
      case Choosing::by_row_mean:
        return choose_by_row_mean(executor.features());
      case Choosing::by_name:
        return {asked.kernel, "asked for"};
      case Choosing::by_features:
      case Choosing::by_measuring:
        break;
    }
    return choose_by_features(executor.features(), N, sizeof(T));
  }

  const KernelChoice& prepare(Index N) {
    const auto found = prepared.find(N);
    if (found != prepared.end()) return found->second;
    KernelChoice choice = choose(N);
    executor.prepare(choice.kernel, N);
    return prepared.emplace(N, std::move(choice)).first->second;
  }

  /// The choice for the product's N, measured with it where that was asked for and not yet done.
  const KernelChoice& prepare_for(CudaContext& context, const cuda::SpmmProduct<T>& product) {
    if (asked.choosing == Choosing::by_measuring && !prepared.contains(product.N)) {
      prepared.emplace(product.N, cuda::choose_by_measuring(context, executor, product));
    }
    return prepare(product.N);
  }

  const cuda::IndexedTranspose<T>& indexed_transpose(CudaContext& context) {
    if (!indexed) indexed.emplace(context, executor.matrix());
    return *indexed;
  }

  const SpmmPlan& stored_transpose(CudaContext& context) {
    if (!stored) {
      HostContext host;
      HostCsrMatrix<T> At = transpose<T>(host, fetch(context, host, executor.matrix()).view());
      stored.emplace(context, place(context, std::move(At)), options);
    }
    return stored->plan();
  }
};

template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                                   const SpmmOptions& options)
    : state_(std::make_unique<State>(
          State{cuda::SpmmExecutor<T>(context, A), parse_kernel(options.kernel), options})) {}

template <Scalar T>
SpmmPlan<T, CudaContext>::~SpmmPlan() = default;
template <Scalar T>
SpmmPlan<T, CudaContext>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <Scalar T>
SpmmPlan<T, CudaContext>& SpmmPlan<T, CudaContext>::operator=(SpmmPlan&&) noexcept = default;

template <Scalar T>
void SpmmPlan<T, CudaContext>::prepare(CudaContext&, Index N) const {
  if (N > 0 && state_->asked.choosing != Choosing::by_measuring) state_->prepare(N);
}

template <Scalar T>
void SpmmPlan<T, CudaContext>::multiply(CudaContext& context, T alpha,
                                        ConstBlockView<T, DeviceSpace> B, T beta,
                                        BlockView<T, DeviceSpace> C) const {
  const CsrView<T, DeviceSpace>& A = state_->executor.matrix();
  check_shapes("C = A B", A, A.rows, A.cols, B, C);
  if (C.empty()) return;
  const cuda::SpmmProduct<T> product = {A,      B.data(), B.ld(), C.data(),
                                        C.ld(), C.cols(), alpha,  beta};
  state_->executor.run(state_->prepare_for(context, product).kernel, product);

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
  const CsrView<T, DeviceSpace>& A = state_->executor.matrix();
  check_shapes("C = AᵀB", A, A.cols, A.rows, B, C);
  if (C.empty()) return;
  if (state_->options.transpose == SpmmTranspose::stored && alpha != T{0}) {
    return state_->stored_transpose(context).multiply(context, alpha, B, beta, C);
  }
  const CsrView<T, DeviceSpace> At = {A.cols, A.rows, A.nnz, nullptr, nullptr, nullptr};
  const cuda::SpmmProduct<T> product = {At,     B.data(), B.ld(), C.data(),
                                        C.ld(), C.cols(), alpha,  beta};
  if (alpha == T{0}) {
    cuda::launch_scale(product, context.stream());
    count_product(context, product, 0);
  } else {
    const cuda::IndexedTranspose<T>& indexed = state_->indexed_transpose(context);
    indexed.run(context, product);
    count_product(context, product, indexed.compulsory_bytes(C.cols()));
  }
}

template <Scalar T>
double SpmmPlan<T, CudaContext>::compulsory_bytes(Index N) const noexcept {
  const CsrView<T, DeviceSpace>& A = state_->executor.matrix();
  return static_cast<double>(A.nnz) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(A.rows + A.cols) * static_cast<double>(N) * sizeof(T);
}

template <Scalar T>
std::string_view SpmmPlan<T, CudaContext>::kernel(Index N) const {
  const auto found = state_->prepared.find(N);
  return name_of(found != state_->prepared.end() ? found->second.kernel : state_->choose(N).kernel);
}

template <Scalar T>
std::string SpmmPlan<T, CudaContext>::reason(Index N) const {
  const auto found = state_->prepared.find(N);
  return found != state_->prepared.end() ? found->second.reason : state_->choose(N).reason;
}

const std::vector<std::string_view>& spmm_kernels(const CudaContext&) {
  static const std::vector<std::string_view> kNames(cuda_kernel_names().begin(),
                                                    cuda_kernel_names().end());
  return kNames;
}

template class SpmmPlan<float, CudaContext>;
template class SpmmPlan<double, CudaContext>;

}  // namespace heddle
