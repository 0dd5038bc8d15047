#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/model/model.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// An order of a matrix's rows. `automatic`: another one than the matrix's own where the model says
/// that it pays. `none`: the matrix's own.
enum class RowOrder { automatic, none, rcm, metis, radix, jaccard };

/// All orders, as the key `spmm.reorder` names them: auto, none, rcm, metis, radix, jaccard.
inline constexpr RowOrder kRowOrders[] = {RowOrder::automatic, RowOrder::none,  RowOrder::rcm,
                                          RowOrder::metis,     RowOrder::radix, RowOrder::jaccard};
std::string_view row_order_name(RowOrder order) noexcept;

/// Why this order of A cannot be found: METIS is missing in this build or counts no further, rcm
/// and metis need a square A. Empty if it can.
std::string no_row_order_reason(RowOrder order, const RowPattern& A);

/// An order of A's rows by A's pattern: row k of the ordered matrix is row order[k] of A. For a
/// square A it is meant for rows and columns alike, PAPᵀ. Empty for `none` and `automatic`.
///
///     rcm      reverse Cuthill–McKee: breadth first, so that entries come near the diagonal
///     metis    parts of some thousand rows that few entries join, by METIS; within them, and from
///              one to the next, as rcm
///     radix    rows as binary numbers whose first digit is the first column, in descending order
///     jaccard  row after row the most like those before it, see `cluster_rows`
///
/// Rows of one point of a discretisation stay side by side in their own order: each `unknowns`
/// neighbouring rows if `unknowns` > 1, else rows of a square A with equal columns. rcm goes
/// from row i to row j where a_ij is stored, metis where a_ij or a_ji is. The order depends on A
/// alone, not on the number of threads. Throws `InvalidArgument` with `no_row_order_reason`,
/// `OutOfMemory`.
///
/// Source: Hidayetoglu et al., tiled SpMM, section 4.2 (radix); Karypis & Kumar, SIAM J. Sci.
/// Comput. 20 (1998) 359 (METIS).
std::vector<std::int32_t> order_rows(HostContext& context, const RowPattern& A, RowOrder order,
                                     Index unknowns = 0);

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
  RowOrder order = RowOrder::none;   ///< the kind of order
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
