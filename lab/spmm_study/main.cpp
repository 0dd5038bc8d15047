#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>

#include "spmm/bandwidth.hpp"
#include "spmm_study/study.hpp"

/// Times all kernels of heddle and cuSPARSE on the matrices of the study and prints one line of
/// comma-separated values per kernel, matrix, precision and width. report.py makes tables and
/// pictures of it, fit.py the constants of the model.
namespace {

using namespace heddle;
using namespace heddle::lab;

struct Arguments {
  std::string folder = ".";
  std::vector<std::string> only;
  std::vector<std::string> precisions = {"double", "single"};
  double seconds = 1e9;
  bool large = false;
  StudyOptions study;
};

std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Times SpMM kernels on a GPU over many matrices, widths and both precisions.",
               "spmm_study");
  app.add_option("--matrices", arguments.folder, "folder of the real matrices");
  app.add_option("--only", arguments.only, "matrices whose name contains one of these")
      ->delimiter(',');
  app.add_flag("--large", arguments.large, "also matrices with up to 57 million entries");
  app.add_option("--widths", arguments.study.widths, "columns of B")->delimiter(',');
  app.add_option("--precision", arguments.precisions, "double, single or complex, of double")
      ->delimiter(',');
  app.add_option("--choices", arguments.study.choices, "rules of choice")->delimiter(',');
  app.add_flag("!--no-cusparse", arguments.study.vendor, "leave cuSPARSE out");
  app.add_option("--kernels", arguments.study.kernels, "kernels whose name contains this");
  app.add_option("--budget", arguments.study.budget_ms,
                 "milliseconds for all repetitions of a product");
  app.add_option("--seconds", arguments.seconds, "begins no further matrix after this time");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

/// A field without the separators of the format.
std::string field(std::string text) {
  for (char& c : text) {
    if (c == ',' || c == '\n') c = ';';
  }
  return text;
}

void print_lines(const StudyMatrix& matrix, const HostCsrMatrix<double>& A,
                 const std::vector<StudyLine>& lines) {
  for (const StudyLine& line : lines) {
    fmt::print("{},{},{},{},{},{},{},{},{},{},{:.6g},{:.4g},{:.4g},{}\n", matrix.name, matrix.kind,
               matrix.kept_aside ? "aside" : "fit", A.rows(), A.cols(), A.nnz(), line.precision,
               line.N, line.kernel, line.choice, line.ms, line.inspect_ms, line.prepare_ms,
               field(line.failure));
  }
  std::fflush(stdout);
}

bool is_wanted(const Arguments& arguments, const std::string& name) {
  const auto named = [&](const std::string& part) { return name.find(part) != std::string::npos; };
  return arguments.only.empty() || std::any_of(arguments.only.begin(), arguments.only.end(), named);
}

/// A with all values multiplied by one complex number of size 1.
HostCsrMatrix<std::complex<double>> with_phase(HostContext& host, const HostCsrMatrix<double>& A) {
  const CsrView<double, HostSpace> a = A.view();
  HostCsrMatrix<std::complex<double>> C(host, a.rows, a.cols, a.nnz);
  std::copy_n(a.row_offsets, a.rows + 1, C.row_offsets());
  std::copy_n(a.columns, a.nnz, C.columns());
  for (Index e = 0; e < a.nnz; ++e) C.values()[e] = a.values[e] * std::complex(0.6, 0.8);
  return C;
}

std::vector<StudyLine> study_in(const std::string& precision, HostContext& host,
                                CudaContext& context, const HostCsrMatrix<double>& A,
                                const StudyOptions& options) {
  if (precision == "double") return study_matrix<double>(context, A.view(), options);
  if (precision == "complex") {
    return study_matrix<std::complex<double>>(context, with_phase(host, A).view(), options);
  }
  return study_matrix<float>(context, convert<float>(host, A.view()).view(), options);
}

void run(const Arguments& arguments) {
  const auto begin = Clock::now();
  HostContext host;
  CudaContext context;
  fmt::print("# {}, {:.4g} GB/s\n", context.device().name, 1e-9 * lab::measure_bandwidth(context));
  fmt::print(
      "matrix,kind,set,rows,cols,nnz,precision,N,kernel,choice,ms,inspect_ms,prepare_ms,failure\n");
  for (const StudyMatrix& matrix : study_matrices(arguments.folder, arguments.large)) {
    if (!is_wanted(arguments, matrix.name)) continue;
    const double gone = seconds_since(begin);
    if (gone > arguments.seconds) {
      fmt::print(stderr, "{} left out, {:.0f} s are over\n", matrix.name, gone);
      continue;
    }
    const HostCsrMatrix<double> A = matrix.make(host);
    for (const std::string& precision : arguments.precisions) {
      print_lines(matrix, A, study_in(precision, host, context, A, arguments.study));
    }
    const double now = seconds_since(begin);
    fmt::print(stderr, "{:<40}{:8.2f} s\n", matrix.name, now - gone);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const auto done = parse(argc, argv, arguments)) return *done;
  try {
    run(arguments);
  } catch (const Error& error) {
    fmt::print(stderr, "spmm_study: {}\n", error.what());
    return 1;
  }
  return 0;
}
