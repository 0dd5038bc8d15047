#include <fmt/format.h>

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/host/row_split/complex_rows.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split_kernel.hpp>

namespace heddle::detail {
namespace {

template <class T>
class RowSplitPlan : public KernelPlan<T, HostSpace> {
 public:
  RowSplitPlan(HostContext& context, const KernelMatrix<T, HostSpace>& matrix)
      : nnz_(matrix.A.nnz),
        schedule_(schedule_rows(context, matrix.A)),
        partials_(context, schedule_.segments.size() * static_cast<std::size_t>(kMaxStripe<T>)) {}

  void run(HostContext& context, const SpmmProduct<T, HostSpace>& p) override {
    row_split<T>(p, p.A.values, schedule_, partials_.data(), context.threads());
  }

  std::string reason(Index N) const override {
    std::string text = N == 1 ? "one column: vectorised along the rows"
                              : "vectorised over the columns of the block";
    if (schedule_.grouped_nnz > 0) {
      text += fmt::format(
          "; {:.0f} % of the entries stand in rows with equal columns, which are "
          "multiplied together",
          100.0 * static_cast<double>(schedule_.grouped_nnz) / static_cast<double>(nnz_));
    }
    if (schedule_.strip_rows > 0) {
      text += fmt::format("; the planes of a grid are gone through in strips of {} rows",
                          schedule_.strip_rows);
    }
    if (!schedule_.heavy_rows.empty()) {
      text += fmt::format("; {} heavy rows are split into {} segments", schedule_.heavy_rows.size(),
                          schedule_.segments.size());
    }
    return text;
  }

 private:
  Index nnz_;
  RowSchedule schedule_;
  Buffer<T, HostSpace> partials_;
};

template <ComplexScalar T>
class RowSplitPlan<T> : public KernelPlan<T, HostSpace> {
 public:
  RowSplitPlan(HostContext&, const KernelMatrix<T, HostSpace>& matrix)
      : chunks_(row_chunks(matrix.A)) {}

  void run(HostContext& context, const SpmmProduct<T, HostSpace>& p) override {
    complex_rows<T>(p, chunks_, context.threads());
  }

  std::string reason(Index) const override {
    return "vectorised over the real and imaginary parts of the columns";
  }

 private:
  std::vector<Index> chunks_;
};

}  // namespace

KernelMakers<HostSpace> RowSplitKernel::makers() {
  return makers_of<RowSplitKernel, RowSplitPlan, HostSpace>();
}

}  // namespace heddle::detail
