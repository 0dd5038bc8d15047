#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/spmm/product.hpp>
#include <heddle/drivers/matrix_argument.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::uint64_t kSeed = 1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <Scalar T>
MultiVector<T, HostSpace> converted(HostContext& context, ConstBlockView<double, HostSpace> B) {
  MultiVector<T, HostSpace> result(context, B.rows(), B.cols());
  for (Index i = 0; i < B.rows(); ++i) {
    for (Index j = 0; j < B.cols(); ++j) result.view()(i, j) = static_cast<T>(B(i, j));
  }
  return result;
}

template <Scalar T>
void write_block(const std::string& path, ConstBlockView<T, HostSpace> C) {
  if (path.ends_with(".npy")) return write_npy(path, C);
  write_matrix_market(path, C);
}

/// The products of one run.
class Products {
 public:
  explicit Products(const SpmmProductOptions& options) : options_(options), host_(options.threads) {
    A_ = read_input(options.matrix, "A", [this](const std::filesystem::path& path) {
      return detail::load_matrix(host_, path.string());
    });
    if (options.block.empty()) {
      B_ = {host_, A_.cols(), options.columns};
      fill_random(host_, kSeed, 0, B_.view());
    } else {
      B_ = read_input(options.block, "B", [this](const std::filesystem::path& path) {
        return read_block<double>(host_, path);
      });
    }
    if (B_.rows() != A_.cols()) {
      throw InvalidArgument(fmt::format("C = A B does not fit: A ({}) is {}x{}, B ({}) is {}x{}",
                                        options.matrix, A_.rows(), A_.cols(), options.block,
                                        B_.rows(), B_.cols()));
    }
  }

  SpmmProductReport report() {
    SpmmProductReport report{A_.rows(), A_.cols(), A_.nnz(), B_.cols(), options_.check, {}};
    for (const ProductPrecision precision : options_.precisions) {
      report.lines.push_back(line(precision));
    }
    return report;
  }

 private:
  SpmmProductLine line(ProductPrecision precision) {
    switch (precision) {
      case ProductPrecision::single_precision:
        return plain<float>(precision);
      case ProductPrecision::double_precision:
        return plain<double>(precision);
      default:
        return with_narrow_float(precision, [&]<class V>(V) { return narrow<V>(precision); });
    }
  }

  template <Scalar T>
  SpmmProductLine plain(ProductPrecision precision) {
    SpmmProductLine line{precision, 0, 0, {}};
    auto begin = Clock::now();
    // Values beyond the range of T are refused. Scaling would not be undone.
    const auto& limits = limits_of(precision);
    row_exponents(host_, std::as_const(A_).view(), RangeScaling::none, limits.largest, limits.name);
    std::vector<std::int32_t> unscaled(static_cast<std::size_t>(B_.cols()));
    column_exponents(host_, std::as_const(B_).view(), RangeScaling::none, limits.largest,
                     limits.name, unscaled.data());
    const HostCsrMatrix<T> A = convert<T>(host_, std::as_const(A_).view());
    const SpmmPlan<T, HostContext> plan(host_, A.view());
    const MultiVector<T, HostSpace> B = converted<T>(host_, std::as_const(B_).view());
    line.setup_seconds = seconds_since(begin);
    MultiVector<T, HostSpace> C(host_, A_.rows(), B_.cols());
    begin = Clock::now();
    plan.multiply(host_, T{1}, B.view(), T{0}, C.view());
    line.seconds = seconds_since(begin);
    check_range<T>(precision, std::as_const(C).view());
    finish<T>(line, std::as_const(C).view(), {{}, {}});
    return line;
  }

  template <class V>
  SpmmProductLine narrow(ProductPrecision precision) {
    SpmmProductLine line{precision, 0, 0, {}};
    auto begin = Clock::now();
    LowPrecisionPlan<V, HostContext> plan(host_, std::as_const(A_).view(), options_.scaling);
    line.setup_seconds = seconds_since(begin);
    MultiVector<float, HostSpace> C(host_, A_.rows(), B_.cols());
    begin = Clock::now();
    plan.multiply(host_, std::as_const(B_).view(), C.view());
    line.seconds = seconds_since(begin);
    finish<float>(line, std::as_const(C).view(), {plan.row_exponents(), plan.column_exponents()});
    return line;
  }

  /// Refuses a product that passes the range of its precision.
  template <Scalar T>
  static void check_range(ProductPrecision precision, ConstBlockView<T, HostSpace> C) {
    for (Index i = 0; i < C.rows(); ++i) {
      for (Index j = 0; j < C.cols(); ++j) {
        if (std::isfinite(C(i, j))) continue;
        throw InvalidArgument(
            fmt::format("entry ({}, {}) of C = A B is beyond the range of {} precision: {}", i + 1,
                        j + 1, limits_of(precision).name,
                        precision == ProductPrecision::single_precision ? "choose double precision"
                                                                        : "scale A or B"));
      }
    }
  }

  /// Checks C and writes it.
  template <Scalar T>
  void finish(SpmmProductLine& line, ConstBlockView<T, HostSpace> C,
              const ProductExponents& exponents) {
    if (options_.check) {
      line.error = product_error<T>(host_, std::as_const(A_).view(), std::as_const(B_).view(), C,
                                    line.precision, exponents);
      if (!(line.error.share <= 1)) {
        throw Error(fmt::format(
            "the {} product is wrong: entry ({}, {}) of C is off by {:.3g} times its error bound",
            limits_of(line.precision).name, line.error.row + 1, line.error.column + 1,
            line.error.share));
      }
    }
    if (!options_.output.empty()) write_block(options_.output, C);
  }

  const SpmmProductOptions& options_;
  HostContext host_;
  HostCsrMatrix<double> A_;
  MultiVector<double, HostSpace> B_;
};

}  // namespace

void check_output_name(const std::string& path) {
  if (path.ends_with(".npy") || path.ends_with(".mtx")) return;
  throw InvalidArgument(
      fmt::format("--output {}: the name must end in .npy (NumPy) or .mtx (Matrix Market)", path));
}

SpmmProductReport multiply(const SpmmProductOptions& options) { return Products(options).report(); }

std::string to_text(const SpmmProductReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "C = A B on the host: A {}x{} with {} entries, B {}x{}\n"
                 "{:<10}{:>12}{:>12}{:>10}",
                 report.rows, report.cols, report.nnz, report.cols, report.columns, "precision",
                 "setup ms", "product ms", "GFLOP/s");
  if (report.checked) {
    fmt::format_to(out, "{:>16}{:>14}{:>18}", "largest error", "its bound", "worst error/bound");
  }
  fmt::format_to(out, "\n");
  for (const SpmmProductLine& line : report.lines) {
    const double flops = 2 * static_cast<double>(report.nnz) * static_cast<double>(report.columns);
    fmt::format_to(out, "{:<10}{:>12.3f}{:>12.3f}{:>10.2f}", limits_of(line.precision).name,
                   1e3 * line.setup_seconds, 1e3 * line.seconds,
                   line.seconds > 0 ? 1e-9 * flops / line.seconds : 0);
    if (report.checked) {
      fmt::format_to(out, "{:>16.3e}{:>14.3e}{:>18.4f}", line.error.largest, line.error.bound,
                     line.error.share);
    }
    fmt::format_to(out, "\n");
  }
  return text;
}

std::string to_json(const SpmmProductReport& report) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const SpmmProductLine& line : report.lines) {
    nlohmann::ordered_json entry = {{"precision", limits_of(line.precision).name},
                                    {"setup_seconds", line.setup_seconds},
                                    {"seconds", line.seconds}};
    if (report.checked) {
      entry["largest_error"] = line.error.largest;
      entry["bound"] = line.error.bound;
      entry["worst_share_of_bound"] = line.error.share;
    }
    lines.push_back(std::move(entry));
  }
  return nlohmann::ordered_json{{"rows", report.rows},
                                {"cols", report.cols},
                                {"nnz", report.nnz},
                                {"columns", report.columns},
                                {"products", std::move(lines)}}
             .dump(2) +
         "\n";
}

}  // namespace heddle::apps
