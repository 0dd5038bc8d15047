#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/spmm.hpp>

#include "spmm_study/matrices.hpp"

/// Prints the terms of the model for the matrices of the study as comma-separated values, in
/// seconds at the nominal speed of a GPU, by default an H200. fit.py reads them with the times that
/// spmm_study measured on such a GPU.
namespace {

using namespace heddle;

constexpr Index kWidths[] = {1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};

void print_terms(const std::string& matrix, const MatrixFeatures& A, const DeviceSpeed& device) {
  constexpr std::pair<std::size_t, const char*> kPrecisions[] = {
      {sizeof(double), "double"},
      {sizeof(float), "single"},
      {sizeof(std::complex<double>), "complex"}};
  for (const auto& [bytes, precision] : kPrecisions) {
    for (const Index N : kWidths) {
      const std::string_view rule = choose_by_features(A, N, bytes).kernel;
      for (const KernelTerms& t : kernel_terms(A, N, bytes, device)) {
        fmt::print(
            "{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},"
            "{:.6g},{:.6g},{}\n",
            matrix, precision, N, t.kernel, t.memory, t.l2, t.l1, t.issue, t.tensor, t.loads,
            t.instructions, t.waves, t.tail, t.launch, t.storage_bytes, t.kernel == rule ? 1 : 0);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = ".";
  bool large = false;
  DeviceSpeed device;
  CLI::App app("Prints the terms of the model of SpMM times for the matrices of the study.",
               "spmm_terms");
  app.add_option("FOLDER", folder, "folder of the real matrices");
  app.add_flag("--large", large, "also matrices with up to 57 million entries");
  app.add_option("--memory", device.memory_bytes, "bytes per second of device memory, nominal");
  app.add_option("--l2", device.l2_bytes, "bytes of the second-level cache");
  CLI11_PARSE(app, argc, argv);
  HostContext context;
  fmt::print(
      "matrix,precision,N,kernel,memory,l2,l1,issue,tensor,loads,instructions,waves,tail,launch,"
      "storage_bytes,rule\n");
  try {
    for (const lab::StudyMatrix& matrix : lab::study_matrices(folder, large)) {
      const HostCsrMatrix<double> A = matrix.make(context);
      print_terms(matrix.name, matrix_features<double>(context, A.view()), device);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "spmm_terms: {}\n", error.what());
    return 1;
  }
  return 0;
}
