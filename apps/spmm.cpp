#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/apps/spmm/command_line.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/spmm/bandwidth.hpp>
#include <heddle/apps/spmm/report.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>
#endif

namespace {

using namespace heddle;
using namespace heddle::apps;

template <class Report>
void give(const SpmmCommandLine& line, const Report& report) {
  if (line.json != "-") std::fputs(to_text(report).c_str(), stdout);
  if (line.json == "-") std::fputs(to_json(report).c_str(), stdout);
  if (!line.json.empty() && line.json != "-") write_text(line.json, to_json(report));
}

[[noreturn]] void refuse_timing(const std::string& reason) {
  throw DeviceError("kernels are timed on a GPU: " + reason +
                    "; --multiply B or --columns N multiplies on the host");
}

#ifdef HEDDLE_HAS_CUDA
template <class T>
MatrixComparison compare(CudaContext& context, const std::string& name, const char* precision,
                         const HostCsrMatrix<T>& A, const ComparisonOptions& options) {
  KernelComparison compared = compare_kernels<T>(context, A.view(), options);
  return {
      name, precision, A.rows(), A.cols(), A.nnz(), compared.features, std::move(compared.widths)};
}

void time_kernels(const SpmmCommandLine& line) {
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) refuse_timing(reason);
  HostContext host;
  CudaContext context;
  SpmmReport report{context.device(), device_speed(context), measure_bandwidth(context), {}};
  for (const std::string& name : line.matrices) {
    const HostCsrMatrix<double> A = read_input(name, "A", [&](const std::filesystem::path& path) {
      return detail::load_matrix(host, path.string(), line.first_line);
    });
    for (const std::string& precision : line.timed_precisions) {
      if (precision == "double") {
        report.matrices.push_back(compare(context, name, "double", A, line.comparison));
      } else {
        report.matrices.push_back(
            compare(context, name, "single", convert<float>(host, A.view()), line.comparison));
      }
      print(report.matrices.back(), report.bandwidth);
      if (line.explain) explain(report.matrices.back());
      std::fflush(stdout);
    }
  }
  print_summary(report);
  if (!line.json.empty()) write_json(report, line.json);
  if (!line.roofline.empty()) write_rooflines(report, line.roofline);
}
#else
void time_kernels(const SpmmCommandLine&) { refuse_timing("this build has no CUDA"); }
#endif

}  // namespace

int main(int argc, char** argv) {
  return run_on_process_0(kSpmmName, argc, argv, [&] {
    const auto line = parse_spmm_command_line(argc, argv);
    if (!line) return ExitCode::converged;
    if (line->reorders()) {
      give(*line, time_orders(line->reordering));
    } else if (line->multiplies()) {
      give(*line, multiply(line->product));
    } else {
      time_kernels(*line);
    }
    return ExitCode::converged;
  });
}
