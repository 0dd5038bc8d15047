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

/// The product of one run, computed where the context does.
template <class Ctx>
class Product {
 public:
  Product(Ctx& context, HostContext& host, const SpmmProductOptions& options)
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
    switch (options_.precision) {
      case ProductPrecision::single_precision:
        return plain<float>();
      case ProductPrecision::double_precision:
        return plain<double>();
      default:
        check_values(options_.scaling);
        return with_narrow_float(options_.precision, [&]<class V>(V) {
          return finish<float>(narrow_product<V>(
              context_, host_, std::as_const(A_).view(),
              converted<double>(host_, std::as_const(B_).view()),
              {options_.kernel, options_.scaling, options_.fastest_order, options_.by_columns}));
        });
    }
  }

 private:
  template <Scalar T>
  SpmmProductReport plain() {
    // Values beyond the range of T are refused. Scaling would not be undone.
    check_values(RangeScaling::none);
    return finish<T>(plain_product(context_, host_, convert<T>(host_, std::as_const(A_).view()),
                                   converted<T>(host_, std::as_const(B_).view()),
                                   {options_.kernel, options_.by_columns}));
  }

  /// Refuses values of A and B that the precision cannot take.
  void check_values(RangeScaling scaling) {
    const auto& limits = limits_of(options_.precision);
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
  SpmmProductReport finish(const ComputedProduct<T>& product) {
    const ConstBlockView<T, HostSpace> C = product.C.view();
    check_range<T>(C);
    SpmmProductReport report{.device = name_of(context_),
                             .rows = A_.rows(),
                             .cols = A_.cols(),
                             .nnz = A_.nnz(),
                             .columns = B_.cols(),
                             .precision = options_.precision,
                             .kernel = product.kernel,
                             .reason = product.reason,
                             .setup_seconds = product.setup_seconds,
                             .seconds = product.seconds,
                             .order = product.order,
                             .checked = options_.check,
                             .error = {}};
    if (options_.check) report.error = checked_error<T>(product);
    if (!options_.output.empty()) write_block(options_.output, C);
    return report;
  }

  /// Throws `Error` if C passes its error bound.
  template <Scalar T>
  ProductError checked_error(const ComputedProduct<T>& product) {
    const ProductError error = product_error<T>(
        host_, std::as_const(A_).view(), std::as_const(B_).view(), product.C.view(),
        options_.precision, {product.row_exponents, product.column_exponents});
    if (error.share <= 1) return error;
    throw Error(fmt::format(
        "the {} product is wrong: entry ({}, {}) of C is off by {:.3g} times its error bound",
        limits_of(options_.precision).name, error.row + 1, error.column + 1, error.share));
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
  if (!options.on_gpu) return Product<HostContext>(host, host, options).report();
#ifdef HEDDLE_HAS_CUDA
  const std::string reason = cuda_unavailable_reason();
  if (reason.empty()) {
    CudaContext context;
    return Product<CudaContext>(context, host, options).report();
  }
#else
  const std::string reason = "this build has no CUDA";
#endif
  throw DeviceError("--device cuda: " + reason + "; --device host multiplies on the host");
}

std::string to_text(const SpmmProductReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  const std::string_view precision = limits_of(report.precision).name;
  fmt::format_to(out, "C = A B on {} in {} precision: A {}x{} with {} entries, B {}x{}\n",
                 report.device, precision, report.rows, report.cols, report.nnz, report.cols,
                 report.columns);
  if (!report.kernel.empty()) {
    fmt::format_to(out, "kernel: {} ({})\n", report.kernel, report.reason);
  }
  if (!report.order.empty()) fmt::format_to(out, "order: {}\n", report.order);
  const double flops = 2 * static_cast<double>(report.nnz) * static_cast<double>(report.columns);
  fmt::format_to(out, "time: {:.3f} ms, {:.2f} GFLOP/s, after a setup of {:.3f} ms\n",
                 1e3 * report.seconds, report.seconds > 0 ? 1e-9 * flops / report.seconds : 0,
                 1e3 * report.setup_seconds);
  if (report.checked) {
    fmt::format_to(out, "largest error: {:.3e}, its bound {:.3e}, worst error/bound {:.4f}\n",
                   report.error.largest, report.error.bound, report.error.share);
  }
  if (report.error.underflows > 0) {
    fmt::format_to(out,
                   "warning: {} of {} entries of the {} product have lost digits, because numbers "
                   "lie below the range of the precision: choose a longer one, or scale A or B\n",
                   report.error.underflows, report.rows * report.columns, precision);
  }
  return text;
}

std::string to_json(const SpmmProductReport& report) {
  nlohmann::ordered_json json = {
      {"device", report.device},   {"rows", report.rows},
      {"cols", report.cols},       {"nnz", report.nnz},
      {"columns", report.columns}, {"precision", limits_of(report.precision).name}};
  const auto put = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  put("kernel", report.kernel);
  put("reason", report.reason);
  put("order", report.order);
  json["setup_seconds"] = report.setup_seconds;
  json["seconds"] = report.seconds;
  if (report.checked) {
    json["largest_error"] = report.error.largest;
    json["bound"] = report.error.bound;
    json["worst_share_of_bound"] = report.error.share;
    json["underflowed_entries"] = report.error.underflows;
  }
  return json.dump(2) + "\n";
}

}  // namespace heddle::apps
