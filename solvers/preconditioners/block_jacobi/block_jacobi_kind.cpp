#include <fmt/format.h>

#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/narrow_block_jacobi.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>

namespace heddle::detail {
namespace {

/// The number of rows per block, 0 if the blocks are found from the matrix.
Index block_size(const PreconditionerOptions& options) { return options.integer("block_size", 0); }

/// Blocks that are found from the matrix hold no more entries than the matrix. In that case the
/// estimate is a bound and may be many times too large.
PreconditionerBytes estimate_bytes(const PreconditionerSizes& sizes,
                                   const PreconditionerOptions& options) {
  const Index rows_per_block = block_size(options);
  const double matrix =
      sizes.matrix_bytes(rows_per_block == 0 ? sizes.nnz : sizes.rows * rows_per_block);
  return {.matrix = matrix, .kept = matrix};
}

}  // namespace

PreconditionerKind block_jacobi_kind() {
  return {
      .name = "block_jacobi",
      .doc = "inverts the diagonal blocks",
      .keys = {{.name = "block_size",
                .doc = "rows of a block of block_jacobi; auto: rows with entries in the same "
                       "columns",
                .words = {"auto"},
                .integers =
                    IntegerRange{1, BlockJacobiPreconditioner<double, HostContext>::kMaxBlockSize},
                .fallback = "auto",
                .aliases = {"block", "block_rows"}}},
      .any_row_order = true,
      .narrow_products = true,
      .describe_options =
          [](const PreconditionerOptions& options) {
            const Index rows = block_size(options);
            return rows > 0 ? fmt::format(", blocks of {}", rows) : std::string();
          },
      .estimate_bytes = estimate_bytes,
      .maker = {
          []<Scalar T, class Ctx>(Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                                  const PreconditionerOptions& options, const SpmmOptions& spmm) {
            return std::make_unique<BlockJacobiPreconditioner<T, Ctx>>(context, A,
                                                                       block_size(options), spmm);
          },
          []<class Ctx>(Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
                        const PreconditionerOptions& options,
                        const SpmmOptions& spmm) -> std::unique_ptr<Preconditioner<float, Ctx>> {
            if (options.products() == ProductPrecision::single_precision) {
              return std::make_unique<BlockJacobiPreconditioner<float, Ctx>>(
                  context, A, block_size(options), spmm);
            }
            return with_narrow_float(
                options.products(), [&]<class V>(V) -> std::unique_ptr<Preconditioner<float, Ctx>> {
                  return std::make_unique<NarrowBlockJacobi<V, Ctx>>(context, A,
                                                                     block_size(options));
                });
          }},
  };
}

}  // namespace heddle::detail
