#include <algorithm>
#include <cassert>
#include <heddle/solvers/krylov/projected_matrix.hpp>

namespace heddle::detail {

ProjectedMatrix::ProjectedMatrix(Index max_order, Index block)
    : host_(1),
      T_(*host_, max_order, max_order),
      column_(*host_, max_order + block, block),
      rotated_(*host_, max_order, block),
      max_order_(max_order),
      block_(block) {}

void ProjectedMatrix::set_column(ConstSmallView<double, HostSpace> coupled) noexcept {
  const SmallView<double, HostSpace> column = this->column();
  for (Index j = 0; j < block_; ++j) {
    std::fill_n(&column(0, j), first_coupled_, 0.0);
    std::copy_n(&coupled(0, j), coupled.rows, &column(first_coupled_, j));
  }
  const SmallView<double, HostSpace> square = column.block(order_, 0, block_, block_);
  for (Index j = 0; j < block_; ++j) {
    for (Index i = 0; i < j; ++i) {
      square(i, j) = square(j, i) = 0.5 * (square(i, j) + square(j, i));
    }
  }
}

void ProjectedMatrix::append() noexcept {
  const SmallView<double, HostSpace> column = this->column();
  const SmallView<double, HostSpace> all = this->all();
  for (Index j = 0; j < block_; ++j) {
    for (Index i = 0; i < order_ + block_; ++i) {
      all(i, order_ + j) = all(order_ + j, i) = column(i, j);
    }
  }
  first_coupled_ = order_;
  order_ += block_;
}

void ProjectedMatrix::set_whole(ConstSmallView<double, HostSpace> whole) noexcept {
  order_ = whole.rows;
  first_coupled_ = 0;
  const SmallView<double, HostSpace> all = this->all();
  for (Index j = 0; j < order_; ++j) {
    for (Index i = 0; i < order_; ++i) all(i, j) = 0.5 * (whole(i, j) + whole(j, i));
  }
  const SmallView<double, HostSpace> column = this->column();
  for (Index j = 0; j < block_; ++j) std::fill_n(&column(0, j), column.rows, 0.0);
}

void ProjectedMatrix::restart(ConstSmallView<double, HostSpace> Z,
                              ConstSmallView<double, HostSpace> theta) {
  const Index l = Z.cols;
  const SmallView<double, HostSpace> old = column();
  const SmallView<double, HostSpace> S = rotated_.view(l, block_);
  small_multiply(*host_, 1, Z, true, old.block(0, 0, order_, block_), false, 0, S);  // ZᵀS
  for (Index j = 0; j < block_; ++j) {
    std::copy_n(&old(order_, j), block_, &old(l, j));
    std::copy_n(&S(0, j), l, &old(0, j));
  }
  order_ = l;
  first_coupled_ = 0;
  const SmallView<double, HostSpace> all = this->all();
  for (Index j = 0; j < l; ++j) {
    std::fill_n(&all(0, j), l, 0.0);
    all(j, j) = theta(j, 0);
  }
}

void ProjectedMatrix::drop_first(Index j) noexcept {
  assert(first_coupled_ == 0 && j <= order_);
  const SmallView<double, HostSpace> all = this->all();
  const SmallView<double, HostSpace> old = column();
  for (Index i = 0; i + j < order_; ++i) all(i, i) = all(i + j, i + j);
  for (Index c = 0; c < block_; ++c) std::copy(&old(j, c), &old(0, c) + old.rows, &old(0, c));
  order_ -= j;
}

void ProjectedMatrix::archive(Archive& archive) {
  archive.values(order_, first_coupled_);
  const SmallView<double, HostSpace> T = all().block(0, 0, order_, order_);
  for (Index j = 0; j < order_; ++j) {
    for (Index i = 0; i < order_; ++i) archive.values(T(i, j));
  }
}

}  // namespace heddle::detail
