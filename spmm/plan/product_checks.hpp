#pragma once

#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/kernels/product.hpp>
#include <heddle/spmm/spmm.hpp>
#include <string_view>

/// The steps of the plans of all backends around the product of a kernel.
namespace heddle::detail {

/// Throws `InvalidArgument` unless C = op(A) B fits, where op(A) is rows×cols. `product` is the
/// formula that the message begins with.
template <class Matrix, class BlockB, class BlockC>
void check_shapes(std::string_view product, const Matrix& A, Index rows, Index cols,
                  const BlockB& B, const BlockC& C) {
  if (B.rows() == cols && C.rows() == rows && B.cols() == C.cols()) return;
  throw InvalidArgument(fmt::format("{} does not fit: A is {}x{}, B is {}x{}, C is {}x{}", product,
                                    A.rows, A.cols, B.rows(), B.cols(), C.rows(), C.cols()));
}

/// Throws `InvalidArgument` unless the terms of an epilogue whose coefficients are not 0 fit.
template <class Matrix, class Epilogue, class Block>
void check_terms(const Matrix& A, const Epilogue& epilogue, const Block& C) {
  const auto require_shape_of_C = [&](char name, auto coefficient, const auto& block) {
    if (coefficient == decltype(coefficient){} ||
        (block.rows() == C.rows() && block.cols() == C.cols()))
      return;
    throw InvalidArgument(fmt::format("C = A B with {0}: {0} is {1}x{2}, but C is {3}x{4}", name,
                                      block.rows(), block.cols(), C.rows(), C.cols()));
  };
  if (epilogue.gamma != decltype(epilogue.gamma){} && A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("C = A B with rows of B added to those of C: A must be square, it is {}x{}",
                    A.rows, A.cols));
  }
  require_shape_of_C('X', epilogue.delta, epilogue.X);
  if constexpr (requires { epilogue.eta; }) require_shape_of_C('Y', epilogue.eta, epilogue.Y);
}

/// The operands as a kernel takes them.
template <Scalar T, class Space>
SpmmProduct<T, Space> product_of(const CsrView<T, Space>& A, T alpha,
                                 const ConstBlockView<T, Space>& B,
                                 const SpmmEpilogue<T, Space>& epilogue,
                                 const BlockView<T, Space>& C) noexcept {
  return {.A = A,
          .B = B.data(),
          .ldb = B.ld(),
          .C = C.data(),
          .ldc = C.ld(),
          .N = C.cols(),
          .alpha = alpha,
          .beta = epilogue.beta,
          .gamma = epilogue.gamma,
          .delta = epilogue.delta,
          .X = epilogue.X.data(),
          .ldx = epilogue.X.ld(),
          .eta = epilogue.eta,
          .Y = epilogue.Y.data(),
          .ldy = epilogue.Y.ld()};
}

/// Counts a product in the context's profile: the bytes that it moves at least, and 2·nnz·N flops.
/// `compulsory_bytes` are those of C = op(A) B, of which B' is a part. With α = 0, C and the terms
/// count alone.
template <class Ctx, class T>
void count_product(Ctx& context, const SpmmProduct<T, typename Ctx::Space>& p,
                   double compulsory_bytes) {
  const double block = static_cast<double>(p.A.rows) * static_cast<double>(p.N) * sizeof(T);
  const int terms = (p.beta != T{0} ? 1 : 0) + (p.delta != T{0} ? 1 : 0) + (p.eta != T{0} ? 2 : 0);
  if (p.alpha == T{0}) {
    context.profile().count((1 + terms + (p.gamma != T{0} ? 1 : 0)) * block, 0);
  } else {
    context.profile().count(compulsory_bytes + terms * block,
                            2 * static_cast<double>(p.A.nnz) * static_cast<double>(p.N));
  }
}

}  // namespace heddle::detail
