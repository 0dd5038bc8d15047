#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/spmm/model/device_speed.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The products for which an order is chosen.
struct OrderedProducts {
  Index N = 1;                       ///< columns of B
  std::size_t scalar_bytes = 8;      ///< of a value
  double count = 150;                ///< of products that will be done
  std::optional<DeviceSpeed> gpu{};  ///< the GPU that multiplies. None: the host
  Index unknowns = 0;                ///< as in `order_rows`
};

/// The order that `spmm.reorder: auto` takes, and why.
struct OrderChoice {
  RowOrder order = RowOrder::none;
  std::vector<std::int32_t> rows{};  ///< empty for `none`
  std::string reason{};              ///< a sentence
};

/// The predicted time of a product of A in this order of its rows (of a square A also of its
/// columns): on a GPU that of the fastest kernel by `predict_kernels`, on the host by
/// `host_product_seconds`. An empty order is A's own. Equal for every number of threads.
double predict_ordered(HostContext& context, const RowPattern& A,
                       const std::vector<std::int32_t>& order, const OrderedProducts& products);

/// The time that finding this order on one thread and permuting A takes, in seconds, predicted from
/// the sizes of A and of the second-level cache. Exact to a factor of two or so.
double ordering_seconds(const RowPattern& A, RowOrder order) noexcept;

/// Whether an order pays that costs `order_seconds` and brings a product from `before` to `after`
/// seconds: products become faster by more than the model errs, and by more in all than the
/// ordering costs.
bool order_pays(double before, double after, double order_seconds,
                const OrderedProducts& products) noexcept;

/// Why no order of A makes these products faster by more than it costs, from the sizes of A and a
/// thousand of its rows. Empty if one may.
std::string no_order_helps(const RowPattern& A, const OrderedProducts& products);

/// Chooses between A's own order and rcm for a square A. A look at samples comes first: where they
/// show that no order can be worth its cost, no order is searched for. The choice depends on A,
/// `products` and the sizes of the caches, not on clocks or numbers of threads.
OrderChoice choose_order(HostContext& context, const RowPattern& A,
                         const OrderedProducts& products);

}  // namespace heddle
