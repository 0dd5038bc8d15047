#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/spmm.hpp>

#include "spmm_study/matrices.hpp"

/// Prints the terms of the model for the matrices of the study as comma-separated values, in
/// seconds, with the constants of the library. fit.py reads them with the times of spmm_study.
/// Usage: spmm_terms FOLDER_OF_REAL_MATRICES [--large]
namespace {

using namespace heddle;

constexpr Index kWidths[] = {1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};

void print_terms(const std::string& matrix, const MatrixFeatures& A) {
  for (const std::size_t scalar_bytes : {sizeof(double), sizeof(float)}) {
    for (const Index N : kWidths) {
      const std::string_view rule = choose_by_features(A, N, scalar_bytes).kernel;
      for (const KernelPrediction& p : predict_kernels(A, N, scalar_bytes, {})) {
        fmt::print(
            "{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{}"
            "\n",
            matrix, scalar_bytes == sizeof(double) ? "double" : "single", N, p.kernel, p.seconds,
            p.times.memory, p.times.l2, p.times.l1, p.times.issue, p.times.tensor, p.times.latency,
            p.times.tail, p.times.launch, p.storage_bytes, p.kernel == rule ? 1 : 0);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  HostContext context;
  const bool large = argc > 2 && std::string(argv[2]) == "--large";
  fmt::print(
      "matrix,precision,N,kernel,seconds,memory,l2,l1,issue,tensor,latency,tail,launch,"
      "storage_bytes,rule\n");
  try {
    for (const bench::StudyMatrix& matrix :
         bench::study_matrices(argc > 1 ? argv[1] : ".", large)) {
      const HostCsrMatrix<double> A = matrix.make(context);
      print_terms(matrix.name, matrix_features<double>(context, A.view()));
    }
  } catch (const Error& error) {
    fmt::print(stderr, "spmm_terms: {}\n", error.what());
    return 1;
  }
  return 0;
}
