#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/kernel_times.hpp>
#include <heddle/spmm/low_precision/rounded_product.hpp>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

/// The kernels of products in short number types on a GPU.
namespace heddle::detail {

/// A in device memory, its values rounded to V, and the order that blocks may have.
template <class V>
struct ShortInput {
  CudaContext& context;
  HostContext& host;
  CsrView<V, DeviceSpace> A;
  const BlockOrder& order;
};

template <class V>
using MakeShort = std::unique_ptr<ShortMatrix<V>> (*)(const ShortInput<V>&);

/// A row of the table.
struct ShortKernel {
  std::string_view name;
  std::string_view description;  ///< one line
  bool built_on_host;            ///< by a copy of A, so that many products must pay for it
  bool follows_order;            ///< of `ShortInput`
  double (*seconds)(const ProductCounts&) noexcept;  ///< infinite: it does not take A
  std::tuple<MakeShort<Half>, MakeShort<Bfloat16>, MakeShort<Tf32>> makers;

  template <class V>
  std::unique_ptr<ShortMatrix<V>> make(const ShortInput<V>& input) const {
    return std::get<MakeShort<V>>(makers)(input);
  }
};

const std::vector<ShortKernel>& short_kernels();

/// The quantities on which the predictions for `columns` columns depend. Blocks are counted if the
/// host has the pattern of A.
template <class V>
ProductCounts count_product(const ShortInput<V>& input, const RowPattern* pattern, Index columns);

}  // namespace heddle::detail
