#include <CLI/CLI.hpp>
#include <algorithm>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <utility>

#include "common.hpp"
#include "spgemm/report.hpp"

/// Times the implementations of a sparse product against each other.
namespace {

using namespace heddle;
using namespace heddle::lab;

struct Arguments {
  std::string A;
  std::string B;  ///< empty: A, or its transpose
  bool transpose = false;
  bool single = false;
  apps::SpgemmFormat format = apps::SpgemmFormat::automatic;
  SpgemmComparisonOptions comparison;
  std::string json;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> implementations = {"cpu", "gpu", "hybrid", "cusparse"};
  std::string precision = "double";
  std::string format = "auto";
  CLI::App app("Times the implementations of the product A B, A A without B.", "spgemm_timing");
  app.add_option("A", arguments.A, kMatrixHelp);
  CLI::Option* B = app.add_option("B", arguments.B, "the second factor");
  app.add_flag("--transpose", arguments.transpose, "A times its transpose")->excludes(B);
  app.add_option("--implementations", implementations)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"cpu", "gpu", "hybrid", "cusparse", "column-row"}).description(""));
  app.add_option("--precision", precision)
      ->check(CLI::IsMember({"double", "single"}).description(""));
  app.add_option("--format", format, "of cpu, gpu and hybrid, as of heddle spgemm")
      ->check(CLI::IsMember({"auto", "csr", "dia"}).description(""));
  app.add_option("--threads", arguments.comparison.threads, "of the host; 0: by the machine")
      ->check(apps::at_least(0));
  app.add_flag("--json{-}", arguments.json, "print JSON; --json=FILE: write it to FILE");
  if (!apps::parse(app, apps::with_joined_json(argc, argv))) return std::nullopt;
  if (arguments.A.empty()) throw InvalidArgument("a matrix is missing");
  const auto asked = [&](const char* word) {
    return std::find(implementations.begin(), implementations.end(), word) != implementations.end();
  };
  SpgemmComparisonOptions& options = arguments.comparison;
  options.cpu = asked("cpu");
  options.gpu = asked("gpu");
  options.hybrid = asked("hybrid");
  options.cusparse = asked("cusparse");
  options.column_row = asked("column-row");
  arguments.single = precision == "single";
  if (format != "auto") {
    arguments.format = format == "dia" ? apps::SpgemmFormat::dia : apps::SpgemmFormat::csr;
  }
  return arguments;
}

template <Scalar T>
HostCsrMatrix<T> load_as(HostContext& host, const std::string& name, const char* argument) {
  const HostCsrMatrix<double> matrix = load(host, name, argument);
  return convert<T>(host, matrix.view());
}

template <Scalar T>
ProductReport compare(const Arguments& arguments) {
  HostContext host(arguments.comparison.threads);
  const HostCsrMatrix<T> A = load_as<T>(host, arguments.A, "A");
  HostCsrMatrix<T> other;
  if (arguments.transpose) other = transpose<T>(host, A.view());
  if (!arguments.B.empty()) other = load_as<T>(host, arguments.B, "B");
  const bool same = !arguments.transpose && arguments.B.empty();
  const CsrView<T, HostSpace> left = A.view();
  const CsrView<T, HostSpace> right = same ? left : std::as_const(other).view();
  SpgemmComparison comparison =
      compare_spgemm<T>(left, right, arguments.comparison,
                        apps::choose_format<T>(host, arguments.format, left, right));
  return {same ? "A A" : arguments.transpose ? "A Aᵀ" : "A B", std::move(comparison)};
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("spgemm_timing", [&] {
    if (const auto arguments = parse(argc, argv)) {
      const std::vector<ProductReport> reports = {arguments->single ? compare<float>(*arguments)
                                                                    : compare<double>(*arguments)};
      give(arguments->json, to_text(reports), to_json(reports));
    }
    return apps::ExitCode::converged;
  });
}
