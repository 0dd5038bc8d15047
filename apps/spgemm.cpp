#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/apps/spgemm/command_line.hpp>
#include <heddle/apps/spgemm/product.hpp>
#include <heddle/apps/spgemm/report.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <type_traits>
#include <utility>

namespace {

using namespace heddle;
using namespace heddle::apps;

/// One run in the precision T.
template <Scalar T>
class Run {
 public:
  explicit Run(const SpgemmCommandLine& line) : line_(line), host_(line.threads) {}

  std::vector<ProductReport> products() {
    const HostCsrMatrix<T> A = load(line_.A, "A");
    HostCsrMatrix<T> C;
    if (!line_.B.empty()) {
      C = multiply("A B", A, load(line_.B, "B"));
    } else if (line_.transpose) {
      C = multiply("A Aᵀ", A, transpose<T>(host_, A.view()));
    } else if (!line_.galerkin.empty()) {
      const HostCsrMatrix<T> P = load(line_.galerkin, "P");
      const HostCsrMatrix<T> AP = multiply("A P", A, P);
      C = multiply("Pᵀ (A P)", transpose<T>(host_, P.view()), AP);
    } else {
      C = multiply("A A", A, A);
      for (int k = 3; k <= line_.power; ++k) C = multiply(fmt::format("A^{} A", k - 1), C, A);
    }
    if (!line_.output.empty()) write_matrix_market(line_.output, std::as_const(C).view());
    return std::move(reports_);
  }

 private:
  HostCsrMatrix<T> load(const std::string& name, const char* argument) {
    const HostCsrMatrix<double> A =
        read_input(name, argument, [this](const std::filesystem::path& path) {
          return detail::load_matrix(host_, path.string(), line_.first_line);
        });
    return convert<T>(host_, A.view());
  }

  /// C = A B, and a report on it.
  HostCsrMatrix<T> multiply(std::string formula, const HostCsrMatrix<T>& A,
                            const HostCsrMatrix<T>& B) {
    constexpr double kMegabyte = 1e6;
    const auto limit = static_cast<std::size_t>(line_.device_megabytes * kMegabyte);
    FormatChoice format = choose_format<T>(host_, line_.format, A.view(), B.view());
    const auto begin = Clock::now();
    SparseProduct<T> product = multiply_on_any<T>(host_, A.view(), B.view(), limit, format);
    const double seconds = seconds_since(begin);
    HostCsrMatrix<T> C = std::move(product.C);
    check_range(formula, C);
    const SpgemmCounts counts{C.rows(), C.cols(), C.nnz(), multiplications(A, B)};
    reports_.push_back(
        {std::move(formula), counts, std::move(format), std::move(product.device), seconds});
    return C;
  }

  /// Refuses a product that passes the range of its numbers.
  static void check_range(const std::string& formula, const HostCsrMatrix<T>& C) {
    const CsrView<T, HostSpace> view = C.view();
    for (Index i = 0; i < view.rows; ++i) {
      for (Index k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
        if (std::isfinite(view.values[k])) continue;
        constexpr bool single = std::is_same_v<T, float>;
        throw InvalidArgument(
            fmt::format("entry ({}, {}) of {} is beyond the range of {} precision: {}", i + 1,
                        view.columns[k] + 1, formula, single ? "single" : "double",
                        single ? "choose double precision" : "scale the factors"));
      }
    }
  }

  static Index multiplications(const HostCsrMatrix<T>& A, const HostCsrMatrix<T>& B) {
    const CsrView<T, HostSpace> left = A.view();
    const CsrView<T, HostSpace> right = B.view();
    Index count = 0;
    for (Index e = 0; e < left.nnz; ++e) {
      count += right.row_offsets[left.columns[e] + 1] - right.row_offsets[left.columns[e]];
    }
    return count;
  }

  const SpgemmCommandLine& line_;
  HostContext host_;
  std::vector<ProductReport> reports_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_on_process_0(kSpgemmName, argc, argv, [&] {
    const auto line = parse_spgemm_command_line(argc, argv);
    if (!line) return ExitCode::converged;
    const std::vector<ProductReport> products =
        line->single ? Run<float>(*line).products() : Run<double>(*line).products();
    const std::string text = line->json.empty() ? to_text(products) : to_json(products);
    if (line->json.empty() || line->json == "-") {
      std::fputs(text.c_str(), stdout);
    } else {
      write_text(line->json, text);
    }
    return ExitCode::converged;
  });
}
