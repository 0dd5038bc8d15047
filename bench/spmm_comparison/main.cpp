#include <CLI/CLI.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/input_file.hpp>
#include <heddle/drivers/matrix_argument.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spmm_comparison/bandwidth.hpp"
#include "spmm_comparison/report.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using apps::ExitCode;

struct Arguments {
  std::vector<std::string> matrices;
  std::vector<std::string> precisions = {"double"};
  ComparisonOptions comparison;
  bool explain = false;
  std::string json;
  std::string roofline;
};

/// Parses the command line into `arguments`. Returns an exit code if there is nothing to run.
std::optional<ExitCode> parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app(
      "Times heddle's SpMM kernels on a GPU against each other, cuSPARSE and the bound "
      "that memory bandwidth sets.",
      "heddle-spmm");
  app.add_option(
         "matrices", arguments.matrices,
         "Matrix Market files, SuiteSparse:GROUP/NAME, or generators as laplace3d:160x160x160 and "
         "rmat:20:16")
      ->required();
  app.add_option("--widths", arguments.comparison.widths, "columns of B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  app.add_option("--precision", arguments.precisions, "double, single or both")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"double", "single"}));
  app.add_option("--kernels", arguments.comparison.kernels, "names, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("!--no-cusparse", arguments.comparison.cusparse, "leave cuSPARSE out");
  app.add_flag("--explain", arguments.explain,
               "print features, predictions and measurements, and how the choice fared");
  app.add_option("--json", arguments.json, "file for all numbers");
  app.add_option("--roofline", arguments.roofline,
                 "file for a picture of predicted and measured throughput (SVG)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::converged : ExitCode::usage;
  }
  auto& kernels = arguments.comparison.kernels;
  if (kernels == std::vector<std::string>{"all"}) kernels.clear();
  return std::nullopt;
}

template <class T>
MatrixComparison compare(CudaContext& context, const std::string& name, const char* precision,
                         const HostCsrMatrix<T>& A, const ComparisonOptions& options) {
  KernelComparison compared = compare_kernels<T>(context, A.view(), options);
  return {
      name, precision, A.rows(), A.cols(), A.nnz(), compared.features, std::move(compared.widths)};
}

ExitCode run(const Arguments& arguments) {
  HostContext host;
  CudaContext context;
  SpmmReport report{context.device(), device_speed(context), measure_bandwidth(context), {}};
  for (const std::string& name : arguments.matrices) {
    const HostCsrMatrix<double> A =
        apps::read_input(name, "matrices", [&host](const std::filesystem::path& path) {
          return detail::load_matrix(host, path.string());
        });
    for (const std::string& precision : arguments.precisions) {
      if (precision == "double") {
        report.matrices.push_back(compare(context, name, "double", A, arguments.comparison));
      } else {
        report.matrices.push_back(
            compare(context, name, "single", convert<float>(host, A.view()), arguments.comparison));
      }
      print(report.matrices.back(), report.bandwidth);
      if (arguments.explain) explain(report.matrices.back());
      std::fflush(stdout);
    }
  }
  print_summary(report);
  if (!arguments.json.empty()) write_json(report, arguments.json);
  if (!arguments.roofline.empty()) write_rooflines(report, arguments.roofline);
  return ExitCode::converged;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("heddle-spmm", [&] {
    Arguments arguments;
    const auto done = parse(argc, argv, arguments);
    return done ? *done : run(arguments);
  });
}
