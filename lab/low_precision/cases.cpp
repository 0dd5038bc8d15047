#include "low_precision/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <random>
#include <utility>

#include "low_precision/graph_clock.hpp"
#include "low_precision/opponents.hpp"

namespace heddle::lab {
namespace {

constexpr Index kLargestBlock = 32;
constexpr Index kSampledRows = 64;
constexpr Index kSampledColumns = 8;
constexpr double kWrong = 1e-2;  // a C in half precision is off by 1e-3 at most

/// A number in [−1, 1] that depends on k alone.
float value_of(std::uint64_t k) {
  std::uint64_t x = (k + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return static_cast<float>(static_cast<double>(x >> 11) * 0x1p-52 - 1);
}

Index padded(Index rows) { return (rows + kLargestBlock - 1) / kLargestBlock * kLargestBlock; }

/// All ways to multiply one A by one B.
class Case {
 public:
  Case(CudaContext& context, HostContext& host, const CsrView<float, HostSpace>& A, Index N,
       const CaseOptions& options)
      : context_(context), host_(host), A_(A), N_(N), options_(options) {
    B_.resize(static_cast<std::size_t>(padded(A.cols) * N));
    for (std::size_t k = 0; k < B_.size(); ++k) {
      B_[k] = Half::round(static_cast<double>(value_of(k + 77)));
    }
    on_device_ = {context, B_.size()};
    context.copy_to_device(on_device_.data(), B_.data(), B_.size() * sizeof(Half));
    C_ = {context, static_cast<std::size_t>(padded(A.rows) * N)};
  }

  CaseResult run(const std::string& name) {
    result_.matrix = name;
    result_.rows = A_.rows;
    result_.nnz = A_.nnz;
    result_.N = N_;
    add_own();
    const auto wanted = [&](const char* family) {
      return std::find(options_.opponents.begin(), options_.opponents.end(), family) !=
             options_.opponents.end();
    };
    const Blocks blocks{on_device_.data(), C_.data(), padded(A_.cols), padded(A_.rows), N_};
    if (wanted("csr")) add("csr", true, csr_opponents(context_, host_, A_, blocks));
    for (const Index size : {8, 16, 32}) {
      if (options_.dense && size == 8) continue;  // small blocks of a band are slower and take long
      if (wanted("bsr")) add("bsr", true, bsr_opponents(context_, host_, A_, size, {}, blocks));
      if (wanted("ell")) add("ell", true, ell_opponents(context_, host_, A_, size, {}, blocks));
    }
    if (clustered_.rows.size() > 0) {
      if (wanted("bsr")) {
        add("bsr", false, bsr_opponents(context_, host_, A_, 16, clustered_, blocks), " clustered");
      }
      if (wanted("ell")) {
        add("ell", false, ell_opponents(context_, host_, A_, 16, clustered_, blocks), " clustered");
      }
    }
    if (options_.dense && wanted("dense"))
      add("dense", false, dense_opponents(context_, A_.rows, A_.cols, blocks));
    return std::move(result_);
  }

 private:
  void add_own() {
    const RowPattern pattern{A_.rows, A_.cols, A_.nnz, A_.row_offsets, A_.columns};
    Index fewest = 0;
    for (const Reordering kind :
         {Reordering::none, Reordering::rows, Reordering::rows_and_columns}) {
      const Index limit = kind == Reordering::none   ? A_.nnz
                          : kind == Reordering::rows ? options_.most_clustered
                                                     : options_.most_clustered / 10;
      if (A_.nnz > limit) continue;
      BlockOrdering ordering = order_for_blocks(host_, pattern, {16, 16}, kind);
      const Index blocks = ordering.counts.blocks();
      LowPrecisionPlan<Half, CudaContext> plan(context_, host_, A_,
                                               {.columns = N_, .order = ordering.order});
      const ConstBlockView<Half, DeviceSpace> B(on_device_.data(), A_.cols, N_, N_);
      const BlockView<float, DeviceSpace> C(C_.data(), A_.rows, N_, N_);
      add_line("heddle", own(name_of(kind), [&] { plan.multiply(context_, B, C); }), true);
      result_.orders.push_back({blocks, ordering.counts.deviation(), ordering.seconds,
                                result_.lines.back().microseconds});
      if (kind == Reordering::none) {
        fewest = blocks;
        if (!options_.dense) {  // the band is stored in the best way, and B is in half precision
          add_kernels(ordering.order, B, C);
          add_rounded(plan, C);
        }
      } else if (blocks < fewest) {
        fewest = blocks;
        clustered_ = std::move(ordering.order);
      }
    }
  }

  static const char* name_of(Reordering kind) {
    return kind == Reordering::none   ? "natural"
           : kind == Reordering::rows ? "rows only"
                                      : "rows and columns";
  }

  Opponent own(std::string name, std::function<void()> multiply) const {
    return {std::move(name), false, false, A_.cols, A_.rows, std::move(multiply), ""};
  }

  /// By each kernel, whichever the plan chose.
  void add_kernels(const BlockOrder& order, const ConstBlockView<Half, DeviceSpace>& B,
                   const BlockView<float, DeviceSpace>& C) {
    for (const std::string_view kernel : low_precision_kernels()) {
      try {
        LowPrecisionPlan<Half, CudaContext> plan(context_, host_, A_,
                                                 {.kernel = std::string(kernel), .order = order});
        add_line("kernel", own(std::string(kernel), [&] { plan.multiply(context_, B, C); }), true);
      } catch (const InvalidArgument&) {
        // B has no room in shared memory.
      }
    }
  }

  /// With a B in double precision, which is scaled and rounded first.
  void add_rounded(LowPrecisionPlan<Half, CudaContext>& plan, BlockView<float, DeviceSpace> C) {
    std::vector<double> wide(B_.size());
    std::transform(B_.begin(), B_.end(), wide.begin(),
                   [](Half value) { return static_cast<double>(value.value()); });
    Buffer<double, DeviceSpace> placed(context_, wide.size());
    context_.copy_to_device(placed.data(), wide.data(), wide.size() * sizeof(double));
    const ConstBlockView<double, DeviceSpace> B(placed.data(), A_.cols, N_, N_);
    add_line("double B", own("natural", [&] { plan.multiply(context_, B, C); }), true);
  }

  void add(const std::string& family, bool compare, std::vector<Opponent> opponents,
           const std::string& suffix = "") {
    for (Opponent& opponent : opponents) {
      opponent.name += suffix;
      add_line(family, opponent, compare);
    }
  }

  void add_line(const std::string& family, const Opponent& way, bool compare) {
    CaseLine line{family, way.name, 0, true, -1, way.failure};
    if (way.failure.empty()) {
      try {
        const WorkTime time = time_work(context_, way.multiply);
        line.microseconds = time.microseconds;
        line.graph = time.graph;
        if (compare) line.error = error_of(way);
        if (line.error > kWrong) {
          line.microseconds = 0;
          line.failure = fmt::format("wrong by {:.1e}", line.error);
        }
      } catch (const Error& error) {
        line.failure = error.what();
      }
    }
    std::replace(line.failure.begin(), line.failure.end(), ',', ';');
    result_.lines.push_back(std::move(line));
  }

  /// The largest |c' − c| / Σ|a||b| of the product that was computed last.
  double error_of(const Opponent& way) {
    const auto size = static_cast<std::size_t>(way.rows_of_C * N_);
    std::vector<float> single(way.half_result ? 0 : size);
    std::vector<Half> half(way.half_result ? size : 0);
    context_.synchronize();
    if (way.half_result) {
      context_.copy_to_host(half.data(), C_.data(), size * sizeof(Half));
    } else {
      context_.copy_to_host(single.data(), C_.data(), size * sizeof(float));
    }
    double worst = 0;
    const Index step = std::max<Index>(1, A_.rows / kSampledRows);
    for (Index i = 0; i < A_.rows; i += step) {
      for (Index j = 0; j < std::min(N_, kSampledColumns); ++j) {
        double sum = 0;
        double size_of_sum = 0;
        for (Index k = A_.row_offsets[i]; k < A_.row_offsets[i + 1]; ++k) {
          const Index row = A_.columns[k];
          const Index place = way.by_columns ? j * way.rows_of_B + row : row * N_ + j;
          const double a =
              static_cast<double>(Half::round(static_cast<double>(A_.values[k])).value());
          const double b = static_cast<double>(B_[static_cast<std::size_t>(place)].value());
          sum += a * b;
          size_of_sum += std::abs(a * b);
        }
        const auto at =
            static_cast<std::size_t>(way.by_columns ? j * way.rows_of_C + i : i * N_ + j);
        const float entry = way.half_result ? half[at].value() : single[at];
        const double error = std::abs(static_cast<double>(entry) - sum);
        if (!(error == 0)) worst = std::max(worst, error / size_of_sum);
      }
    }
    return worst;
  }

  CudaContext& context_;
  HostContext& host_;
  const CsrView<float, HostSpace>& A_;
  Index N_;
  const CaseOptions& options_;
  std::vector<Half> B_;
  Buffer<Half, DeviceSpace> on_device_;
  Buffer<float, DeviceSpace> C_;
  BlockOrder clustered_;  ///< that with the fewest blocks, if it has fewer than the natural one
  CaseResult result_;
};

}  // namespace

double CaseResult::best(const std::string& family, const std::string& name) const {
  double best = 0;
  for (const CaseLine& line : lines) {
    if (line.family != family || !line.name.starts_with(name) || line.microseconds == 0) continue;
    if (best == 0 || line.microseconds < best) best = line.microseconds;
  }
  return best;
}

double CaseResult::best_cusparse() const {
  double fastest = 0;
  for (const char* family : {"csr", "bsr", "ell"}) {
    const double time = best(family);
    if (time > 0 && (fastest == 0 || time < fastest)) fastest = time;
  }
  return fastest;
}

double CaseResult::ratio() const { return best_cusparse() / best("heddle"); }

CaseResult measure_case(CudaContext& context, HostContext& host, const std::string& name,
                        const CsrView<float, HostSpace>& A, Index N, const CaseOptions& options) {
  return Case(context, host, A, N, options).run(name);
}

HostCsrMatrix<float> with_random_values(HostContext& host, const CsrView<double, HostSpace>& A) {
  HostCsrMatrix<float> result(host, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, result.row_offsets());
  std::copy_n(A.columns, A.nnz, result.columns());
  for (Index k = 0; k < A.nnz; ++k) result.values()[k] = value_of(static_cast<std::uint64_t>(k));
  return result;
}

HostCsrMatrix<float> band(HostContext& host, Index n, Index half_width) {
  Index nnz = 0;
  const auto first = [&](Index i) { return std::max<Index>(0, i - half_width); };
  const auto end = [&](Index i) { return std::min(n, i + half_width + 1); };
  for (Index i = 0; i < n; ++i) nnz += end(i) - first(i);
  HostCsrMatrix<float> result(host, n, n, nnz);
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    result.row_offsets()[i] = k;
    for (Index j = first(i); j < end(i); ++j, ++k) {
      result.columns()[k] = static_cast<std::int32_t>(j);
      result.values()[k] = value_of(static_cast<std::uint64_t>(k));
    }
  }
  result.row_offsets()[n] = k;
  return result;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::string orders_head() {
  return "| matrix | rows | entries | natural | rows | rows and columns | found in, s | product, "
         "us "
         "| pays after |\n|---|---|---|---|---|---|---|---|---|";
}

std::string orders_line(const CaseResult& result) {
  std::string blocks;
  std::string found;
  std::string times;
  double gain = 0;
  double spent = 0;
  for (const OrderLine& order : result.orders) {
    blocks += fmt::format(" {} ± {:.1f} |", order.blocks, order.deviation);
    times += fmt::format("{}{:.2f}", times.empty() ? "" : ", ", order.microseconds);
    if (&order == &result.orders.front()) continue;
    found += fmt::format("{}{:.3f}", found.empty() ? "" : ", ", order.found_in);
    const double saved = result.orders.front().microseconds - order.microseconds;
    if (saved > gain) {
      gain = saved;
      spent = 1e6 * order.found_in;
    }
  }
  return fmt::format("| {} | {} | {} |{} {} | {} | {} |", result.matrix, result.rows, result.nnz,
                     blocks, found, times, gain > 0 ? fmt::format("{:.2g}", spent / gain) : "-");
}

std::string table_head() {
  return fmt::format(
      "{:<24}{:>10}{:>8}{:>5}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}{:>9}{:>9}"
      "{:>7}{:>10}",
      "matrix", "entries", "blocks", "N", "natural", "by rows", "rows+col", "rows", "blocks",
      "panels", "slices", "staged", "double B", "csr", "bsr", "ell", "dense", "ratio", "error");
}

std::string table_line(const CaseResult& result) {
  double error = 0;
  for (const CaseLine& line : result.lines) {
    if (line.family == "heddle" || line.family == "double B" || line.family == "kernel")
      error = std::max(error, line.error);
  }
  return fmt::format(
      "{:<24}{:>10}{:>8}{:>5}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}"
      "{:>10.2f}"
      "{:>9.2f}"
      "{:>9.2f}{:>9.2f}{:>9.2f}"
      "{:>7.2f}{:>10.1e}",
      result.matrix, result.nnz, result.orders.front().blocks, result.N,
      result.best("heddle", "natural"), result.best("heddle", "rows only"),
      result.best("heddle", "rows and"), result.best("kernel", "rows"),
      result.best("kernel", "blocks"), result.best("kernel", "panels"),
      result.best("kernel", "slices"), result.best("kernel", "staged"), result.best("double B"),
      result.best("csr"), result.best("bsr"), result.best("ell"), result.best("dense"),
      result.ratio(), error);
}

}  // namespace heddle::lab
