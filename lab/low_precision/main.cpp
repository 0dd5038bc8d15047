#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/error.hpp>
#include <optional>

#include "low_precision/cases.hpp"
#include "low_precision/empty_kernel.hpp"
#include "low_precision/graph_clock.hpp"
#include "low_precision/steps.hpp"

/// Times products in half precision on a GPU: heddle's on tensor cores, cuSPARSE with compressed
/// rows, block compressed rows and Blocked-ELL, and cuBLAS with a dense matrix. Prints a table, and
/// writes all times as comma-separated values, of which band.py makes a picture.
namespace {

using namespace heddle;
using namespace heddle::lab;

struct Arguments {
  std::vector<std::string> matrices;
  std::vector<Index> half_widths;
  Index band_rows = 16384;
  std::vector<Index> widths = {8};
  std::vector<Index> band_widths = {8, 128};
  std::string csv;
  bool orders = false;
  bool steps = false;
  CaseOptions options;
};

std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Times products in half precision on a GPU against NVIDIA's libraries.",
               "low_precision_bench");
  app.add_option("matrices", arguments.matrices, "files or generated matrices");
  app.add_option("--widths", arguments.widths, "columns of B")->delimiter(',');
  app.add_option("--band", arguments.half_widths, "half widths of bands")->delimiter(',');
  app.add_option("--band-rows", arguments.band_rows, "rows of the bands");
  app.add_option("--band-widths", arguments.band_widths, "columns of B for bands")->delimiter(',');
  app.add_flag("--orders", arguments.orders, "also a table of orders, for the matrices");
  app.add_flag("--steps", arguments.steps,
               "only steps of recurrences between blocks in half precision, by each kernel");
  app.add_option("--opponents", arguments.options.opponents,
                 "csr, bsr, ell, dense (for bands), or none: of cuSPARSE and cuBLAS")
      ->delimiter(',');
  app.add_option("--csv", arguments.csv, "file for all times");
  app.add_option("--most-clustered", arguments.options.most_clustered,
                 "entries up to which rows are clustered, a tenth of it for columns");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

void write_csv(std::FILE* file, const CaseResult& result) {
  if (file == nullptr) return;
  for (const CaseLine& line : result.lines) {
    fmt::print(file, "{},{},{},{},{},{},{:.4g},{},{:.3g},{}\n", result.matrix, result.rows,
               result.nnz, result.N, line.family, line.name, line.microseconds,
               line.graph ? "graph" : "calls", line.error, line.failure);
  }
  std::fflush(file);
}

void run_steps(const Arguments& arguments) {
  HostContext host;
  CudaContext context;
  fmt::print("{}: microseconds of a step\n{}\n", context.device().name, steps_head());
  for (const std::string& name : arguments.matrices) {
    const HostCsrMatrix<double> pattern = detail::load_matrix(host, name);
    const HostCsrMatrix<float> A = with_random_values(host, pattern.view());
    for (const Index N : arguments.widths) {
      fmt::print("{}\n", steps_line(context, host, name, A.view(), N));
      std::fflush(stdout);
    }
  }
}

void run(const Arguments& arguments) {
  if (arguments.steps) return run_steps(arguments);
  HostContext host;
  CudaContext context;
  std::FILE* csv = arguments.csv.empty() ? nullptr : std::fopen(arguments.csv.c_str(), "w");
  if (csv != nullptr) {
    fmt::print(csv, "# {}\nmatrix,rows,nnz,N,family,name,us,timed,error,failure\n",
               context.device().name);
  }
  fmt::print("{}: microseconds of a product in half precision\n{}\n", context.device().name,
             table_head());
  fmt::print("an empty kernel: {:.2f}, launched early: {:.2f}\n",
             time_work(context, [&] { launch_empty_kernel(context, false); }).microseconds,
             time_work(context, [&] { launch_empty_kernel(context, true); }).microseconds);
  std::vector<double> ratios;
  std::string orders = orders_head();
  const auto measure = [&](const std::string& name, const HostCsrMatrix<float>& A, Index N,
                           const CaseOptions& options) {
    const CaseResult result = measure_case(context, host, name, A.view(), N, options);
    fmt::print("{}\n", table_line(result));
    std::fflush(stdout);
    write_csv(csv, result);
    return result;
  };
  for (const std::string& name : arguments.matrices) {
    const HostCsrMatrix<double> pattern = detail::load_matrix(host, name);
    const HostCsrMatrix<float> A = with_random_values(host, pattern.view());
    const std::string brief = std::filesystem::path(name).filename().string();
    for (const Index N : arguments.widths) {
      const CaseResult result =
          measure(brief.substr(0, brief.find(".mtx")), A, N, arguments.options);
      ratios.push_back(result.ratio());
      orders += "\n" + orders_line(result);
    }
  }
  if (arguments.orders) fmt::print("{}\n", orders);
  if (!ratios.empty() && ratios.front() > 0)
    fmt::print("geometric mean of the ratios: {:.2f}\n", geometric_mean(ratios));
  CaseOptions bands = arguments.options;
  bands.most_clustered = 0;
  bands.dense = true;
  for (const Index half_width : arguments.half_widths) {
    const HostCsrMatrix<float> A = band(host, arguments.band_rows, half_width);
    for (const Index N : arguments.band_widths) {
      measure(fmt::format("band:{}", half_width), A, N, bands);
    }
  }
  if (csv != nullptr) std::fclose(csv);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const auto done = parse(argc, argv, arguments)) return *done;
  try {
    run(arguments);
  } catch (const Error& error) {
    fmt::print(stderr, "low_precision_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
