#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>

/// Facts about a matrix in a context's memory that a solve depends on.
namespace heddle {

/// Properties of a matrix A.
struct CsrSurvey {
  /// The first row, 0-based, that is not as `CsrView` describes it: its offsets fall or leave
  /// 0 … nnz, or its columns do not ascend or leave 0 … cols − 1. −1: there is none. All further
  /// fields are then meaningful, and only then.
  Index invalid_row = -1;
  double largest = 0;  ///< max |A(i, j)| over the finite entries
  /// max |A(i, j) − conj(A(j, i))| of a square A, else 0. Entries not stored count as 0, two NaNs
  /// as equal, and a NaN and a number as infinitely different.
  double asymmetry = 0;
  bool diagonal = true;       ///< whether every off-diagonal entry is 0
  double least_diagonal = 0;  ///< min Re A(i, i) of a square A, 0 where it is not stored
};

/// Looks at all entries of A, which is not distributed. Reads no entry outside of the arrays of A,
/// whatever its offsets and columns are, provided that there are rows + 1 offsets and nnz columns
/// and values.
template <Scalar T>
CsrSurvey survey(HostContext& context, CsrView<T, HostSpace> A);
template <Scalar T>
CsrSurvey survey(CudaContext& context, CsrView<T, DeviceSpace> A);

}  // namespace heddle
