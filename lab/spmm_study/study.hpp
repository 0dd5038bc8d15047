#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <string>
#include <vector>

#include "spmm_study/matrices.hpp"

namespace heddle::lab {

/// One line of the study: a kernel, or a rule of choice, on one matrix, precision and width.
struct StudyLine {
  std::string precision;  ///< double, single or complex, of double
  Index N = 0;
  std::string kernel;     ///< of heddle's table, of cuSPARSE in another form, or a rule of choice
  std::string choice;     ///< the kernel that a rule of choice takes, else empty
  double ms = 0;          ///< of one product, warm; of a rule: of its kernel; 0 if `failure`
  double inspect_ms = 0;  ///< host time to construct the plan
  double prepare_ms =
      0;  ///< host time to prepare the width, formats included where it is the first
  std::string failure;
};

struct StudyOptions {
  std::vector<Index> widths = {1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  std::vector<std::string> choices = {"auto", "rule", "rule_row_mean", "measure"};
  std::string kernels;   ///< only those whose name contains this
  double budget_ms = 3;  ///< for all repetitions of one product
  bool vendor = true;    ///< cuSPARSE's algorithms, row- and column-major, and its SpMV
};

/// Times every kernel on A for every width. Results are compared with sums in double on the host in
/// a few rows. A kernel that fails or is wrong is reported and not timed.
template <Scalar T>
std::vector<StudyLine> study_matrix(CudaContext& context, const CsrView<T, HostSpace>& A,
                                    const StudyOptions& options);

}  // namespace heddle::lab
