#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// Shape checks and traffic of the operations on blocks and small matrices, the same for every
/// backend.
namespace heddle {

/// Rows and columns of a block or a small matrix.
struct Shape {
  Index rows;
  Index cols;
};

// The checks throw `InvalidArgument` naming the shapes that do not fit.

void require_same_shape(const char* operation, Shape X, Shape Y);
void require_one_per_column(const char* operation, Shape values, Index columns);
void require_gram_shapes(Shape X, Shape Y, Shape G);      ///< G = XᵀY
void require_multiply_shapes(Shape X, Shape C, Shape Y);  ///< Y = X C
void require_square(const char* operation, Shape A);

template <class T, class Space>
void require_same_shape(const char* operation, const ConstBlockView<T, Space>& X,
                        const ConstBlockView<T, Space>& Y) {
  require_same_shape(operation, Shape{X.rows(), X.cols()}, Shape{Y.rows(), Y.cols()});
}

template <class Small>
void require_one_per_column(const char* operation, const Small& values, Index columns) {
  require_one_per_column(operation, Shape{values.rows, values.cols}, columns);
}

template <class T, class Space, class Small>
void require_gram_shapes(const ConstBlockView<T, Space>& X, const ConstBlockView<T, Space>& Y,
                         const Small& G) {
  require_gram_shapes({X.rows(), X.cols()}, {Y.rows(), Y.cols()}, {G.rows, G.cols});
}

template <class T, class Space, class Small>
void require_multiply_shapes(const ConstBlockView<T, Space>& X, const Small& C,
                             const ConstBlockView<T, Space>& Y) {
  require_multiply_shapes({X.rows(), X.cols()}, {C.rows, C.cols}, {Y.rows(), Y.cols()});
}

/// Whether X and Y are the same block.
template <class T, class Space>
bool same_block(const ConstBlockView<T, Space>& X, const ConstBlockView<T, Space>& Y) noexcept {
  return X.data() == Y.data() && X.cols() == Y.cols() && X.ld() == Y.ld();
}

template <class T, class Space>
double entries(const ConstBlockView<T, Space>& X) noexcept {
  return static_cast<double>(X.rows()) * static_cast<double>(X.cols());
}

template <class T, class Space>
double bytes(const ConstBlockView<T, Space>& X) noexcept {
  return entries(X) * sizeof(T);
}

}  // namespace heddle
