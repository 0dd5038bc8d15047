#include <algorithm>
#include <cassert>
#include <heddle/solvers/krylov/projected_matrix.hpp>

namespace heddle::detail {

template <WideScalar W>
ProjectedMatrix<W>::ProjectedMatrix(Index max_order, Index block)
    : host_(1),
      T_(*host_, max_order, max_order),
      column_(*host_, max_order + block, block),
      rotated_(*host_, max_order, block),
      max_order_(max_order),
      block_(block) {}

template <WideScalar W>
void ProjectedMatrix<W>::set_column(ConstSmallView<W, HostSpace> coupled) noexcept {
  const SmallView<W, HostSpace> column = this->column();
  for (Index j = 0; j < block_; ++j) {
    std::fill_n(&column(0, j), first_coupled_, W{0});
    std::copy_n(&coupled(0, j), coupled.rows, &column(first_coupled_, j));
  }
  const SmallView<W, HostSpace> square = column.block(order_, 0, block_, block_);
  for (Index j = 0; j < block_; ++j) {
    for (Index i = 0; i < j; ++i) {
      square(i, j) = 0.5 * (square(i, j) + conjugate(square(j, i)));
      square(j, i) = conjugate(square(i, j));
    }
    square(j, j) = real_part(square(j, j));
  }
}

template <WideScalar W>
void ProjectedMatrix<W>::append() noexcept {
  const SmallView<W, HostSpace> column = this->column();
  const SmallView<W, HostSpace> all = this->all();
  for (Index j = 0; j < block_; ++j) {
    for (Index i = 0; i < order_ + block_; ++i) {
      all(order_ + j, i) = conjugate(column(i, j));
      all(i, order_ + j) = column(i, j);
    }
  }
  first_coupled_ = order_;
  order_ += block_;
}

template <WideScalar W>
void ProjectedMatrix<W>::set_whole(ConstSmallView<W, HostSpace> whole) noexcept {
  order_ = whole.rows;
  first_coupled_ = 0;
  const SmallView<W, HostSpace> all = this->all();
  for (Index j = 0; j < order_; ++j) {
    for (Index i = 0; i < order_; ++i) all(i, j) = 0.5 * (whole(i, j) + conjugate(whole(j, i)));
  }
  const SmallView<W, HostSpace> column = this->column();
  for (Index j = 0; j < block_; ++j) std::fill_n(&column(0, j), column.rows, W{0});
}

template <WideScalar W>
void ProjectedMatrix<W>::restart(ConstSmallView<W, HostSpace> Z,
                                 ConstSmallView<double, HostSpace> theta) {
  const Index l = Z.cols;
  const SmallView<W, HostSpace> old = column();
  const SmallView<W, HostSpace> S = rotated_.view(l, block_);
  small_multiply(*host_, 1, Z, true, old.block(0, 0, order_, block_), false, 0, S);  // ZᵀS
  for (Index j = 0; j < block_; ++j) {
    std::copy_n(&old(order_, j), block_, &old(l, j));
    std::copy_n(&S(0, j), l, &old(0, j));
  }
  order_ = l;
  first_coupled_ = 0;
  const SmallView<W, HostSpace> all = this->all();
  for (Index j = 0; j < l; ++j) {
    std::fill_n(&all(0, j), l, W{0});
    all(j, j) = theta(j, 0);
  }
}

template <WideScalar W>
void ProjectedMatrix<W>::drop_first(Index j) noexcept {
  assert(first_coupled_ == 0 && j <= order_);
  const SmallView<W, HostSpace> all = this->all();
  const SmallView<W, HostSpace> old = column();
  for (Index i = 0; i + j < order_; ++i) all(i, i) = all(i + j, i + j);
  for (Index c = 0; c < block_; ++c) std::copy(&old(j, c), &old(0, c) + old.rows, &old(0, c));
  order_ -= j;
}

template <WideScalar W>
void ProjectedMatrix<W>::archive(Archive& archive) {
  archive.values(order_, first_coupled_);
  const SmallView<W, HostSpace> T = all().block(0, 0, order_, order_);
  for (Index j = 0; j < order_; ++j) {
    for (Index i = 0; i < order_; ++i) archive.values(T(i, j));
  }
}

template class ProjectedMatrix<double>;
template class ProjectedMatrix<std::complex<double>>;

}  // namespace heddle::detail
