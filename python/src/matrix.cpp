#include <algorithm>
#include <complex>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "bindings.hpp"

namespace heddle::python {
namespace {

using Complex = std::complex<double>;
using AnyMatrix = std::variant<PythonMatrix<double>, PythonMatrix<Complex>>;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Array1<T>& array) {
  return {array.data(), array.shape(0)};
}

template <Scalar T, class Offset, class Value>
PythonMatrix<T> from_csr(Index rows, Index cols, const Array1<Offset>& row_offsets,
                         const Array1<std::int32_t>& columns, const Array1<Value>& values) {
  PythonMatrix<T> made{
      HostMatrix<T>(rows, cols, span_of(row_offsets), span_of(columns), span_of(values))};
  made.arrays = {nb::cast(row_offsets), nb::cast(columns), nb::cast(values)};
  return made;
}

/// A Python function Y = f(X). Solves copy it and destroy the copies without the interpreter's
/// lock, so the copies share one reference.
template <Scalar T>
class Function {
 public:
  explicit Function(nb::object f)
      : f_(new nb::object(std::move(f)), [](nb::object* held) {
          const nb::gil_scoped_acquire lock;
          delete held;
        }) {}

  /// The function gets a copy of X and its result is copied: it may keep both, while the memory of
  /// X and Y belongs to the solver.
  void operator()(ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) const {
    const nb::gil_scoped_acquire lock;
    const nb::object result = (*f_)(numpy_copy(X));
    Array2<T> values;
    if (!nb::try_cast(result, values, false) || values.shape(0) != std::size_t(Y.rows()) ||
        values.shape(1) != std::size_t(Y.cols())) {
      throw InvalidArgument("a callable must return " + std::to_string(Y.rows()) + " x " +
                            std::to_string(Y.cols()) +
                            (kComplex<T> ? " complex doubles" : " doubles"));
    }
    const T* const data = values.data();
    for (Index i = 0; i < Y.rows(); ++i) {
      const T* const row = data + i * values.stride(0);
      for (Index j = 0; j < Y.cols(); ++j) Y(i, j) = row[j * values.stride(1)];
    }
  }

 private:
  std::shared_ptr<nb::object> f_;
};

/// The arrays (row offsets, columns, values) of a stored matrix, which keep `self` alive.
template <Scalar T>
nb::tuple arrays_of(const nb::object& self) {
  const HostMatrix<T>& A = nb::cast<const PythonMatrix<T>&>(self).matrix;
  if (!A.is_stored()) throw InvalidArgument("a callable has no entries");
  const CsrView<T, HostSpace> view = A.view();
  const auto rows = static_cast<std::size_t>(view.rows);
  const auto nnz = static_cast<std::size_t>(view.nnz);
  const auto array = [&]<class Number>(const Number* data, std::size_t size) {
    return nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(data, {size}, self);
  };
  return nb::make_tuple(array(view.row_offsets, rows + 1), array(view.columns, nnz),
                        array(view.values, nnz));
}

/// A matrix of the library together with the context that allocated its memory.
template <Scalar T, class Make>
PythonMatrix<T> owned(Make make) {
  struct Owned {
    HostContext context;
    HostCsrMatrix<T> A;
  };
  auto held = std::make_unique<Owned>();
  {
    const nb::gil_scoped_release unlock;
    held->A = make(held->context);
    held->context.release_kept_memory();
  }
  const CsrView<T, HostSpace> view = std::as_const(held->A).view();
  HostMatrix<T> matrix(view.rows, view.cols,
                       std::span(view.row_offsets, static_cast<std::size_t>(view.rows) + 1),
                       std::span(view.columns, static_cast<std::size_t>(view.nnz)),
                       std::span(view.values, static_cast<std::size_t>(view.nnz)));
  nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<Owned*>(p); });
  return {std::move(matrix), {owner}};
}

PythonMatrix<double> laplacian(const PythonMatrix<double>& graph, bool normalized) {
  const LaplacianOptions options{.kind = normalized ? LaplacianKind::normalized
                                                    : LaplacianKind::combinatorial};
  return owned<double>(
      [&](HostContext& context) { return graph_laplacian(context, graph.matrix.view(), options); });
}

/// Whether `generate` makes a matrix of this name with complex entries. False for unknown names.
bool is_complex_structure(const std::string& name) {
  const std::vector<GalleryStructure>& all = gallery_structures();
  return std::any_of(all.begin(), all.end(), [&](const GalleryStructure& structure) {
    return structure.complex && structure.name == name;
  });
}

AnyMatrix generated(const std::string& name, std::vector<Index> size, double density,
                    std::uint64_t seed) {
  const GallerySpec spec{.name = name, .size = std::move(size), .density = density, .seed = seed};
  const auto make = [&]<Scalar T>(T) -> AnyMatrix {
    return owned<T>([&](HostContext& context) { return generate<T>(context, spec); });
  };
  return is_complex_structure(name) ? make(Complex{}) : make(double{});
}

AnyMatrix read(const std::string& path) {
  const nb::gil_scoped_release unlock;
  if (holds_complex_numbers(path)) return PythonMatrix<Complex>{ComplexMatrix::read(path)};
  return PythonMatrix<double>{Matrix::read(path)};
}

template <Scalar T>
nb::class_<PythonMatrix<T>> bind_matrices(nb::module_& m, const char* name, const char* doc) {
  using namespace nb::literals;
  using M = PythonMatrix<T>;
  nb::class_<M> matrix(m, name, doc);
  const auto add = [&]<class Value>(Value) {
    const auto with_offsets = [&]<class Offset>(Offset) {
      matrix.def_static("from_csr", &from_csr<T, Offset, Value>, "rows"_a, "cols"_a,
                        "row_offsets"_a.noconvert(), "columns"_a.noconvert(),
                        "values"_a.noconvert(),
                        "Refers to the arrays. Offsets of 32 bits and other values are converted.");
    };
    with_offsets(std::int64_t{});
    with_offsets(std::int32_t{});
  };
  add(double{});
  add(float{});
  if constexpr (kComplex<T>) add(T{});
  matrix.def_static(
      "from_function",
      [](Index rows, Index cols, nb::object function) {
        using Apply = typename HostMatrix<T>::Apply;
        return M{HostMatrix<T>(rows, cols, Apply(Function<T>(std::move(function))))};
      },
      "rows"_a, "cols"_a, "function"_a, "function(X) returns A X for a cols x b block of numbers.");
  matrix.def_prop_ro(
      "shape", [](const M& self) { return std::tuple(self.matrix.rows(), self.matrix.cols()); });
  matrix.def_prop_ro("is_stored", [](const M& self) { return self.matrix.is_stored(); });
  matrix.def("arrays", &arrays_of<T>, "Row offsets, columns and values, without a copy.",
             nb::sig("def arrays(self) -> tuple"));
  return matrix;
}

}  // namespace

void bind_matrix(nb::module_& m) {
  using namespace nb::literals;
  bind_matrices<double>(m, "Matrix", "A matrix in compressed sparse rows, or a function Y = A X.")
      .def("laplacian", &laplacian, "normalized"_a = false,
           "The Laplacian of the graph with this adjacency matrix.");
  bind_matrices<Complex>(m, "ComplexMatrix", "The same of complex numbers.");
  m.def("read_matrix", &read, "path"_a, "The matrix in a file of any format that heddle reads.");
  m.def("generate", &generated, "name"_a, "size"_a, "density"_a = 0.0, "seed"_a = 42,
        "A generated matrix.");
}

}  // namespace heddle::python
