#pragma once

#include <functional>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle {

/// The value of an option: an integer or a word.
using OptionValue = std::variant<Index, std::string>;

/// Option values by name, such as `{{"degree", 8}}`.
using OptionValues = std::map<std::string, OptionValue, std::less<>>;

/// The integers from `low` to `high`, both included.
struct IntegerRange {
  Index low = 1;   ///< the least one
  Index high = 1;  ///< the largest one
};

/// One option of a preconditioner, with the values that it accepts and its default.
struct PreconditionerKey {
  std::string name{};
  std::string doc{};                       ///< one line
  std::vector<std::string> words{};        ///< the words that it accepts
  std::optional<IntegerRange> integers{};  ///< the integers that it accepts. Empty: none
  OptionValue fallback = Index{0};         ///< the default, one of the words or of the integers
  std::vector<std::string> aliases{};      ///< names in other packages, for hints

  /// Whether the value is one of the words or of the integers.
  bool accepts(const OptionValue& value) const;

  /// The accepted values as messages list them, such as "auto or an integer from 1 to 256".
  std::string describe_values() const;
};

/// Vectors that a matrix nearly maps to zero away from the boundary, such as the rigid body motions
/// of an elastic body. Whoever makes a preconditioner with them keeps them until it is made, or,
/// for one in lower precision, as long as it exists.
struct NearNullSpace {
  ConstBlockView<double, HostSpace> vectors{};  ///< n×m in host memory. Empty: none are known
  Index unknowns = 0;                           ///< per node, numbered node by node. 0: not known
};

/// The complete and checked options of one preconditioner. Every key has a value that it accepts.
class PreconditionerOptions {
 public:
  /// Takes the values in `given`, and the defaults of `keys` where `given` has none. Throws
  /// `InvalidArgument` for an option that is not among the keys, with a list of the keys, and for a
  /// value that its key does not accept, with the value and the accepted ones. The messages begin
  /// with `preconditioner`.
  PreconditionerOptions(std::string_view preconditioner, const std::vector<PreconditionerKey>& keys,
                        const OptionValues& given = {});

  /// The integer value of the option `name`. Throws `InvalidArgument` if there is no such option,
  /// or its value is a word.
  Index integer(std::string_view name) const;

  /// The integer value of the option `name`, or `for_word` if its value is a word.
  Index integer(std::string_view name, Index for_word) const;

  /// Whether the value of the option `name` is `word`. Throws `InvalidArgument` if there is no such
  /// option.
  bool is(std::string_view name, std::string_view word) const;

  const OptionValues& values() const noexcept { return values_; }

  /// Facts about the matrix. Only kinds that take it (`PreconditionerKind::takes_near_null`)
  /// read it.
  const NearNullSpace& near_null() const noexcept { return near_null_; }
  void set_near_null(const NearNullSpace& known) noexcept { near_null_ = known; }

  /// The precision of the products of a preconditioner that is made in lower precision. Only kinds
  /// with such products (`PreconditionerKind::narrow_products`) read it.
  ProductPrecision products() const noexcept { return products_; }
  void set_products(ProductPrecision precision) noexcept { products_ = precision; }

 private:
  const OptionValue& value(std::string_view name) const;

  OptionValues values_;
  NearNullSpace near_null_;
  ProductPrecision products_ = ProductPrecision::single_precision;
};

/// The rigid body motions of an elastic body as vectors of its unknowns, n×3 in the plane, n×6 in
/// space: `MultigridOptions::near_null` for a stiffness matrix. `coordinates` (nodes×d, d = 2 or 3)
/// has the position of each node, in any unit. `unknowns`, per node and numbered node by node, are
///
///     d                  displacements u: translations, and rotations ω × x
///     3 if d = 2         displacements and the angle of the cross section (beams)
///     6 if d = 3         displacements and the three angles (beams, shells)
///
/// Positions are taken relative to their mean, and scaled to a largest size of 1, which changes the
/// vectors but not their span. Columns: the translations, then the rotation of the plane, or those
/// about x, y and z. Throws `InvalidArgument` for other numbers of coordinates or unknowns.
MultiVector<double, HostSpace> rigid_body_motions(HostContext& context,
                                                  ConstBlockView<double, HostSpace> coordinates,
                                                  Index unknowns);

}  // namespace heddle
