#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {

/// The part of a product with a distributed matrix that needs the halo: the entries in remote
/// columns, with R for their rows and S for the rows of C that they belong to, C(S) += α R H. The
/// columns that the process holds are multiplied between `begin` and `add`.
template <Scalar T, class Ctx>
class RemoteProduct {
 public:
  using Space = typename Ctx::Space;

  /// Inspects the remote columns of a matrix, which must outlive the product.
  RemoteProduct(Ctx& context, const RemoteColumns<T, Space>& remote, const SpmmOptions& options);

  /// Allocates what products with up to N columns need.
  void prepare(Ctx& context, Index N);

  /// Sends the rows of B that other processes need.
  void begin(Ctx& context, ConstBlockView<T, Space> B);

  /// Waits for the halo of B. C += α R H and, with the η and Y of `epilogue`, Y += η α R H on the
  /// rows S. As the terms of an epilogue are linear in A B, the sum is that of the whole product.
  void add(Ctx& context, T alpha, const SpmmEpilogue<T, Space>& epilogue, BlockView<T, Space> C);

 private:
  const RemoteColumns<T, Space>& remote_;
  HaloExchange<T, Ctx> exchange_;
  SpmmPlan<T, Ctx> plan_;
  MultiVector<T, Space> sums_;  // α R H, as wide as the widest block so far
};

}  // namespace heddle::detail
