#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <span>
#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace heddle::python {
namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Array1<T>& array) {
  return {array.data(), array.shape(0)};
}

template <class Offset, class Value>
PythonMatrix from_csr(Index rows, Index cols, const Array1<Offset>& row_offsets,
                      const Array1<std::int32_t>& columns, const Array1<Value>& values) {
  PythonMatrix made{Matrix(rows, cols, span_of(row_offsets), span_of(columns), span_of(values))};
  made.arrays = {nb::cast(row_offsets), nb::cast(columns), nb::cast(values)};
  return made;
}

/// A Python function Y = f(X). Solves copy it and destroy the copies without the interpreter's
/// lock, so the copies share one reference.
class Function {
 public:
  explicit Function(nb::object f)
      : f_(new nb::object(std::move(f)), [](nb::object* held) {
          const nb::gil_scoped_acquire lock;
          delete held;
        }) {}

  /// The function gets a copy of X and its result is copied: it may keep both, while the memory of
  /// X and Y belongs to the solver.
  void operator()(ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) const {
    const nb::gil_scoped_acquire lock;
    const nb::object result = (*f_)(numpy_copy(X));
    Array2 values;
    if (!nb::try_cast(result, values, false) || values.shape(0) != std::size_t(Y.rows()) ||
        values.shape(1) != std::size_t(Y.cols())) {
      throw InvalidArgument("a callable must return " + std::to_string(Y.rows()) + " x " +
                            std::to_string(Y.cols()) + " doubles");
    }
    const double* const data = values.data();
    for (Index i = 0; i < Y.rows(); ++i) {
      const double* const row = data + i * values.stride(0);
      for (Index j = 0; j < Y.cols(); ++j) Y(i, j) = row[j * values.stride(1)];
    }
  }

 private:
  std::shared_ptr<nb::object> f_;
};

/// The arrays (row offsets, columns, values) of a stored matrix, which keep `self` alive.
nb::tuple arrays_of(const nb::object& self) {
  const Matrix& A = nb::cast<const PythonMatrix&>(self).matrix;
  if (!A.is_stored()) throw InvalidArgument("a callable has no entries");
  const CsrView<double, HostSpace> view = A.view();
  const auto rows = static_cast<std::size_t>(view.rows);
  const auto nnz = static_cast<std::size_t>(view.nnz);
  const auto array = [&]<class T>(const T* data, std::size_t size) {
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {size}, self);
  };
  return nb::make_tuple(array(view.row_offsets, rows + 1), array(view.columns, nnz),
                        array(view.values, nnz));
}

/// A matrix of the library together with the context that allocated its memory.
template <class Make>
PythonMatrix owned(Make make) {
  struct Owned {
    HostContext context;
    HostCsrMatrix<double> A;
  };
  auto held = std::make_unique<Owned>();
  {
    const nb::gil_scoped_release unlock;
    held->A = make(held->context);
    held->context.release_kept_memory();
  }
  const CsrView<double, HostSpace> view = std::as_const(held->A).view();
  Matrix matrix(view.rows, view.cols,
                std::span(view.row_offsets, static_cast<std::size_t>(view.rows) + 1),
                std::span(view.columns, static_cast<std::size_t>(view.nnz)),
                std::span(view.values, static_cast<std::size_t>(view.nnz)));
  nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<Owned*>(p); });
  return {std::move(matrix), {owner}};
}

PythonMatrix laplacian(const PythonMatrix& graph, bool normalized) {
  const LaplacianOptions options{.kind = normalized ? LaplacianKind::normalized
                                                    : LaplacianKind::combinatorial};
  return owned(
      [&](HostContext& context) { return graph_laplacian(context, graph.matrix.view(), options); });
}

PythonMatrix generated(const std::string& name, std::vector<Index> size, double density,
                       std::uint64_t seed) {
  const GallerySpec spec{.name = name, .size = std::move(size), .density = density, .seed = seed};
  return owned([&](HostContext& context) { return generate<double>(context, spec); });
}

}  // namespace

void bind_matrix(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PythonMatrix> matrix(m, "Matrix",
                                  "A matrix in compressed sparse rows, or a function Y = A X.");
  const auto add = [&]<class Offset, class Value>(std::pair<Offset, Value>) {
    matrix.def_static("from_csr", &from_csr<Offset, Value>, "rows"_a, "cols"_a,
                      "row_offsets"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
                      "Refers to the arrays. Offsets of 32 bits and floats are converted.");
  };
  add(std::pair<std::int64_t, double>{});
  add(std::pair<std::int32_t, double>{});
  add(std::pair<std::int64_t, float>{});
  add(std::pair<std::int32_t, float>{});
  matrix.def_static(
      "from_function",
      [](Index rows, Index cols, nb::object function) {
        return PythonMatrix{Matrix(rows, cols, Matrix::Apply(Function(std::move(function))))};
      },
      "rows"_a, "cols"_a, "function"_a, "function(X) returns A X for a cols x b block of doubles.");
  matrix.def_static(
      "read",
      [](const std::string& path) {
        const nb::gil_scoped_release unlock;
        return PythonMatrix{Matrix::read(path)};
      },
      "path"_a, "The matrix in a file of any format that heddle reads.");
  matrix.def_static("generate", &generated, "name"_a, "size"_a, "density"_a = 0.0, "seed"_a = 42,
                    "A generated matrix.");
  matrix.def("laplacian", &laplacian, "normalized"_a = false,
             "The Laplacian of the graph with this adjacency matrix.");
  matrix.def_prop_ro("shape", [](const PythonMatrix& self) {
    return std::tuple(self.matrix.rows(), self.matrix.cols());
  });
  matrix.def_prop_ro("is_stored", [](const PythonMatrix& self) { return self.matrix.is_stored(); });
  matrix.def("arrays", &arrays_of, "Row offsets, columns and values, without a copy.",
             nb::sig("def arrays(self) -> tuple"));
}

}  // namespace heddle::python
