#pragma once

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>

namespace heddle::test {

/// A sparse matrix and its transpose as operators on the host.
template <Scalar T>
class SparsePair {
 public:
  SparsePair(HostContext& context, CsrView<T, HostSpace> A)
      : A_(context, convert<T>(context, A)), A_transposed_(context, transpose(context, A)) {}

  AdjointPair<T, HostContext> pair() { return {&A_, &A_transposed_}; }
  CsrView<T, HostSpace> matrix() const { return A_.matrix(); }

 private:
  SparseOperator<T, HostContext> A_;
  SparseOperator<T, HostContext> A_transposed_;
};

}  // namespace heddle::test
