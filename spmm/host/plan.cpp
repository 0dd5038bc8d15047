#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/buffer.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/spmm/host/row_split.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {
namespace {

constexpr std::string_view kRowSplit = "row_split";
constexpr std::string_view kReference = "reference";

bool is_choice(const std::string& asked) {
  const auto& ways = spmm_choices();
  return std::find(ways.begin(), ways.end(), asked) != ways.end();
}

std::string_view choose_kernel(const HostContext& context, const std::string& asked) {
  if (is_choice(asked)) return kRowSplit;
  const auto& known = spmm_kernels(context);
  const auto found = std::find(known.begin(), known.end(), asked);
  if (found == known.end()) {
    std::string names = "auto";
    for (const std::string_view name : known) names.append(", ").append(name);
    throw InvalidArgument(
        fmt::format("SpMM kernel '{}' is not known on the host; known: {}", asked, names));
  }
  return *found;
}

template <Scalar T>
void check_shapes(const CsrView<T, HostSpace>& A, const ConstBlockView<T, HostSpace>& B,
                  const BlockView<T, HostSpace>& C) {
  if (B.rows() == A.cols && C.rows() == A.rows && B.cols() == C.cols()) return;
  throw InvalidArgument(fmt::format("C = A B does not fit: A is {}x{}, B is {}x{}, C is {}x{}",
                                    A.rows, A.cols, B.rows(), B.cols(), C.rows(), C.cols()));
}

template <Scalar T>
void scale_block(T beta, const BlockView<T, HostSpace>& C, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < C.rows(); ++i) {
    for (Index j = 0; j < C.cols(); ++j) C(i, j) = beta == T{0} ? T{0} : beta * C(i, j);
  }
}

}  // namespace

template <Scalar T>
struct SpmmPlan<T, HostContext>::State {
  CsrView<T, HostSpace> A;
  bool automatic;
  std::string_view kernel;
  detail::RowSchedule schedule;
  Buffer<T, HostSpace> partials;
};

template <Scalar T>
SpmmPlan<T, HostContext>::SpmmPlan(HostContext& context, CsrView<T, HostSpace> A,
                                   const SpmmOptions& options)
    : state_(std::make_unique<State>()) {
  state_->A = A;
  state_->automatic = is_choice(options.kernel);
  state_->kernel = choose_kernel(context, options.kernel);
  if (state_->kernel != kRowSplit) return;
  state_->schedule = detail::schedule_rows(A);
  state_->partials = Buffer<T, HostSpace>(
      context, state_->schedule.segments.size() * static_cast<std::size_t>(detail::kMaxSlab<T>));
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
  check_shapes(A, B, C);
  if (C.empty()) return;
  const double c_bytes = static_cast<double>(C.rows() * C.cols()) * sizeof(T);
  const double c_reads = beta == T{0} ? 0 : c_bytes;
  if (alpha == T{0}) {
    scale_block(beta, C, context.threads());
    context.profile().count(c_bytes + c_reads, 0);
    return;
  }
  if (state_->kernel == kReference) {
    reference_spmm(static_cast<double>(alpha), A, B, static_cast<double>(beta), C);
  } else {
    detail::row_split(A, state_->schedule, state_->partials.data(), context.threads(), alpha, B,
                      beta, C);
  }
  context.profile().count(compulsory_bytes(C.cols()) + c_reads,
                          2 * static_cast<double>(A.nnz) * static_cast<double>(C.cols()));
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
  return state_->kernel;
}

template <Scalar T>
std::string SpmmPlan<T, HostContext>::reason(Index N) const {
  if (!state_->automatic) return fmt::format("{} was asked for", state_->kernel);
  const detail::RowSchedule& schedule = state_->schedule;
  std::string text =
      N == 1 ? "one column: vectorised along the rows" : "vectorised over the columns of the block";
  if (schedule.grouped_nnz > 0) {
    text += fmt::format(
        "; {:.0f} % of the entries stand in rows with equal columns, which are "
        "multiplied together",
        100.0 * static_cast<double>(schedule.grouped_nnz) / static_cast<double>(state_->A.nnz));
  }
  if (schedule.strip_rows > 0) {
    text += fmt::format("; the planes of a grid are gone through in strips of {} rows",
                        schedule.strip_rows);
  }
  if (!schedule.heavy_rows.empty()) {
    text += fmt::format("; {} heavy rows are split into {} segments", schedule.heavy_rows.size(),
                        schedule.segments.size());
  }
  return text;
}

const std::vector<std::string_view>& spmm_kernels(const HostContext&) {
  static const std::vector<std::string_view> kNames = {kRowSplit, kReference};
  return kNames;
}

template class SpmmPlan<float, HostContext>;
template class SpmmPlan<double, HostContext>;

}  // namespace heddle
