#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

/// target = sourceᵀ + β target for row-major blocks, source rounded to T. With β = 0, target is not
/// read. So it brings a block by columns into rows, and back. Queued on a GPU, where it is meant
/// for blocks of which one side is short. The two must not share entries.
template <Scalar T, Scalar From>
void transpose_block(HostContext& context, ConstBlockView<From, HostSpace> source, T beta,
                     BlockView<T, HostSpace> target);
template <Scalar T, Scalar From>
void transpose_block(CudaContext& context, ConstBlockView<From, DeviceSpace> source, T beta,
                     BlockView<T, DeviceSpace> target);

/// C = α A B + β C for blocks that are stored by columns: entry (i, j) lies at data[j·ld + i]. Such
/// a block is the row-major block of its transpose, so that B is given as Bᵀ (N×cols) and C as Cᵀ
/// (N×rows), both row-major.
///
/// The kernels of a plan read and write blocks by rows. So slabs of at most `kSlab` columns of B
/// are transposed into memory of this object, multiplied, and transposed back while β C is added.
/// Beside the product, this moves 2·(rows + cols)·N·sizeof(T) bytes, partly within the second-level
/// cache, and keeps (rows + cols)·min(N, kSlab)·sizeof(T) bytes. A single column is a vector in
/// either layout and is multiplied where it lies.
template <Scalar T, class Ctx>
class ColumnMajorProduct {
 public:
  using Space = typename Ctx::Space;

  /// The columns of B that are multiplied at once: from there on, kernels gain little by more.
  static constexpr Index kSlab = 64;

  /// A rows×cols matrix, and its plan, which must outlive this object.
  ColumnMajorProduct(const SpmmPlan<T, Ctx>& plan, Index rows, Index cols)
      : plan_(plan), rows_(rows), cols_(cols) {}

  /// Allocates what products of N or fewer columns need, and prepares the plan on a GPU. `multiply`
  /// calls it for a larger N. Throws `OutOfMemory`.
  void prepare(Ctx& context, Index N);

  /// Cᵀ = α (A B)ᵀ + β Cᵀ with Bt = Bᵀ and Ct = Cᵀ. With β = 0, C may be uninitialised. With α = 0,
  /// A and B are not read. C must not share entries with B. Queued on a GPU. With β = 0, C has the
  /// bits of the plan's product of a slab. Throws `InvalidArgument` with the shapes if they do not
  /// fit.
  void multiply(Ctx& context, T alpha, ConstBlockView<T, Space> Bt, T beta, BlockView<T, Space> Ct);

 private:
  const SpmmPlan<T, Ctx>& plan_;
  Index rows_;
  Index cols_;
  MultiVector<T, Space> B_;
  MultiVector<T, Space> C_;
};

}  // namespace heddle
