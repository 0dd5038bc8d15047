#include <CLI/CLI.hpp>
#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <utility>

#include "common.hpp"
#include "spmm/bandwidth.hpp"
#include "spmm/report.hpp"

/// Times the SpMM kernels of a GPU against each other, cuSPARSE and the bound that memory bandwidth
/// sets.
namespace {

using namespace heddle;
using namespace heddle::lab;

struct Arguments {
  std::vector<std::string> matrices;
  std::vector<std::string> precisions = {"double"};
  ComparisonOptions comparison;
  bool explain = false;
  std::string json;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Times the SpMM kernels of a GPU against each other, cuSPARSE and the bound that "
      "memory bandwidth sets.",
      "spmm_timing");
  app.add_option("A", arguments.matrices, kMatrixHelp);
  app.add_option("--precision", arguments.precisions,
                 "of real matrices: double, single, or both by a comma")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"double", "single"}).description(""));
  app.add_option("--widths", arguments.comparison.widths, "columns of B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(apps::at_least<Index>(1));
  app.add_option("--kernels", arguments.comparison.kernels, "names of heddle's; without it: all")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("!--no-cusparse", arguments.comparison.cusparse, "leave cuSPARSE out");
  app.add_flag("--explain", arguments.explain,
               "print features, predictions and measurements, and how the choice fared");
  app.add_option("--json", arguments.json,
                 "file for all numbers, of which heddle plot draws the roofline");
  std::vector<std::string> words(argv, argv + argc);
  if (!apps::parse(app, words)) return std::nullopt;
  if (arguments.matrices.empty()) throw InvalidArgument("a matrix is missing");
  return arguments;
}

template <class T>
MatrixComparison compare(CudaContext& context, const std::string& name, const char* precision,
                         const HostCsrMatrix<T>& A, const ComparisonOptions& options) {
  KernelComparison compared = compare_kernels<T>(context, A.view(), options);
  return {name,     precision, sizeof(T),         A.rows(),
          A.cols(), A.nnz(),   compared.features, std::move(compared.widths)};
}

void time_kernels(const Arguments& arguments) {
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    throw DeviceError("kernels are timed on a GPU: " + reason);
  }
  HostContext host;
  CudaContext context;
  SpmmReport report{context.device(), device_speed(context), measure_bandwidth(context), {}};
  for (const std::string& name : arguments.matrices) {
    if (apps::names_complex_matrix(name)) {
      report.matrices.push_back(compare(context, name, "complex double",
                                        load<std::complex<double>>(host, name, "A"),
                                        arguments.comparison));
      print(report.matrices.back(), report.bandwidth);
      continue;
    }
    const HostCsrMatrix<double> A = load(host, name, "A");
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
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("spmm_timing", [&] {
    if (const auto arguments = parse(argc, argv)) time_kernels(*arguments);
    return apps::ExitCode::converged;
  });
}
