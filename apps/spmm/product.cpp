#include <fmt/format.h>

#include <cmath>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/spmm/product.hpp>
#include <heddle/apps/spmm/product_engine.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::uint64_t kSeed = 1;

template <Scalar T>
MultiVector<T, HostSpace> converted(HostContext& context, ConstBlockView<double, HostSpace> B) {
  MultiVector<T, HostSpace> result(context, B.rows(), B.cols());
  for (Index i = 0; i < B.rows(); ++i) {
    for (Index j = 0; j < B.cols(); ++j) result.view()(i, j) = static_cast<T>(B(i, j));
  }
  return result;
}

std::string name_of(const HostContext&) { return "the host"; }
#ifdef HEDDLE_HAS_CUDA
std::string name_of(const CudaContext& context) { return context.device().name; }
#endif

template <Scalar T>
void write_block(const std::string& path, ConstBlockView<T, HostSpace> C) {
  if (path.ends_with(".npy")) return write_npy(path, C);
  write_matrix_market(path, C);
}

/// The products of one run, computed where the context does.
template <class Ctx>
class Products {
 public:
  Products(Ctx& context, HostContext& host, const SpmmProductOptions& options)
      : context_(context), host_(host), options_(options) {
    A_ = read_input(options.matrix, "A", [this](const std::filesystem::path& path) {
      return detail::load_matrix(host_, path.string(), options_.first_line);
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
    SpmmProductReport report{name_of(context_), A_.rows(),      A_.cols(), A_.nnz(),
                             B_.cols(),         options_.check, {}};
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
        check_values(precision, options_.scaling);
        return with_narrow_float(precision, [&]<class V>(V) {
          return finish<float>(
              precision,
              narrow_product<V>(context_, host_, std::as_const(A_).view(),
                                converted<double>(host_, std::as_const(B_).view()),
                                {options_.scaling, options_.fastest_order, options_.by_columns}));
        });
    }
  }

  template <Scalar T>
  SpmmProductLine plain(ProductPrecision precision) {
    // Values beyond the range of T are refused. Scaling would not be undone.
    check_values(precision, RangeScaling::none);
    return finish<T>(
        precision,
        plain_product(context_, host_, convert<T>(host_, std::as_const(A_).view()),
                      converted<T>(host_, std::as_const(B_).view()), options_.by_columns));
  }

  /// Refuses values of A and B that the precision cannot take.
  void check_values(ProductPrecision precision, RangeScaling scaling) {
    const auto& limits = limits_of(precision);
    row_exponents(host_, std::as_const(A_).view(), scaling, limits.largest, limits.name);
    std::vector<std::int32_t> unused(static_cast<std::size_t>(B_.cols()));
    column_exponents(host_, std::as_const(B_).view(), scaling, limits.largest, limits.name,
                     unused.data());
  }

  /// Refuses a product that passes the range of its sums.
  template <Scalar T>
  static void check_range(ConstBlockView<T, HostSpace> C) {
    constexpr bool single = std::is_same_v<T, float>;
    for (Index i = 0; i < C.rows(); ++i) {
      for (Index j = 0; j < C.cols(); ++j) {
        if (std::isfinite(C(i, j))) continue;
        throw InvalidArgument(fmt::format(
            "entry ({}, {}) of C = A B is beyond the range of {} precision: {}", i + 1, j + 1,
            single ? "single" : "double", single ? "choose double precision" : "scale A or B"));
      }
    }
  }

  /// Checks C and writes it.
  template <Scalar T>
  SpmmProductLine finish(ProductPrecision precision, const ComputedProduct<T>& product) {
    const ConstBlockView<T, HostSpace> C = product.C.view();
    check_range<T>(C);
    SpmmProductLine line{precision,       product.setup_seconds, product.seconds,
                         product.storage, product.order,         {}};
    if (options_.check) {
      line.error = product_error<T>(host_, std::as_const(A_).view(), std::as_const(B_).view(), C,
                                    precision, {product.row_exponents, product.column_exponents});
      if (!(line.error.share <= 1)) {
        throw Error(fmt::format(
            "the {} product is wrong: entry ({}, {}) of C is off by {:.3g} times its error bound",
            limits_of(precision).name, line.error.row + 1, line.error.column + 1,
            line.error.share));
      }
    }
    if (!options_.output.empty()) write_block(options_.output, C);
    return line;
  }

  Ctx& context_;
  HostContext& host_;
  const SpmmProductOptions& options_;
  HostCsrMatrix<double> A_;
  MultiVector<double, HostSpace> B_;
};

}  // namespace

void check_output_name(const std::string& path) {
  if (path.ends_with(".npy") || path.ends_with(".mtx")) return;
  throw InvalidArgument(
      fmt::format("--output {}: the name must end in .npy (NumPy) or .mtx (Matrix Market)", path));
}

SpmmProductReport multiply(const SpmmProductOptions& options) {
  HostContext host(options.threads);
  if (!options.on_gpu) return Products<HostContext>(host, host, options).report();
#ifdef HEDDLE_HAS_CUDA
  const std::string reason = cuda_unavailable_reason();
  if (reason.empty()) {
    CudaContext context;
    return Products<CudaContext>(context, host, options).report();
  }
#else
  const std::string reason = "this build has no CUDA";
#endif
  throw DeviceError("--device cuda: " + reason + "; --device host multiplies on the host");
}

std::string to_text(const SpmmProductReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "C = A B on {}: A {}x{} with {} entries, B {}x{}\n"
                 "{:<10}{:>12}{:>12}{:>10}",
                 report.device, report.rows, report.cols, report.nnz, report.cols, report.columns,
                 "precision", "setup ms", "product ms", "GFLOP/s");
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
    if (!line.storage.empty()) fmt::format_to(out, "  A in {}", line.storage);
    fmt::format_to(out, "{}{}\n", line.order.empty() ? "" : ", order: ", line.order);
  }
  for (const SpmmProductLine& line : report.lines) {
    if (line.error.underflows == 0) continue;
    fmt::format_to(out,
                   "warning: {} of {} entries of the {} product have lost digits, because numbers "
                   "lie below the range of the precision: choose a longer one, or scale A or B\n",
                   line.error.underflows, report.rows * report.columns,
                   limits_of(line.precision).name);
  }
  return text;
}

std::string to_json(const SpmmProductReport& report) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const SpmmProductLine& line : report.lines) {
    nlohmann::ordered_json entry = {{"precision", limits_of(line.precision).name},
                                    {"setup_seconds", line.setup_seconds},
                                    {"seconds", line.seconds}};
    if (!line.storage.empty()) entry["storage"] = line.storage;
    if (!line.order.empty()) entry["order"] = line.order;
    if (report.checked) {
      entry["largest_error"] = line.error.largest;
      entry["bound"] = line.error.bound;
      entry["worst_share_of_bound"] = line.error.share;
      entry["underflowed_entries"] = line.error.underflows;
    }
    lines.push_back(std::move(entry));
  }
  return nlohmann::ordered_json{{"device", report.device},   {"rows", report.rows},
                                {"cols", report.cols},       {"nnz", report.nnz},
                                {"columns", report.columns}, {"products", std::move(lines)}}
             .dump(2) +
         "\n";
}

}  // namespace heddle::apps
