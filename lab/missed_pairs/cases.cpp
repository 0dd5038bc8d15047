#include "missed_pairs/cases.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "missed_pairs/structure.hpp"

namespace heddle::lab {
namespace {

// Stiffness of parts relative to the body. From `kMedium` on, rounding leaves few digits of the
// softest motions, so that many solves rightly do not converge.
constexpr double kSoftest = 30, kMedium = 1e5, kStiffest = 1e9;

/// A number near x with 20 bits.
double few_bits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 20)), exponent - 20);
}

/// A problem in the making.
class Builder {
 public:
  Builder(std::uint64_t seed, Index kept, bool large, bool coupled)
      : draw(seed), structure(kept), large_(large), coupled_(coupled) {}

  Draw draw;
  Structure structure;
  std::string parts;

  Grid draw_grid(double rows);
  void add_body(bool tied);
  void add_parts(std::string_view family);
  double stiffness();

 private:
  void note(const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; }
  double soft();
  Index many() { return draw.one_of<Index>({1, 1, 2, 3, 5, 10, 20, 30}); }
  void add_dense(std::vector<double> values);
  void add_pairs(Index count);
  void add_ties(Index count);
  void add_elastic(Index count);
  void add_nested(Index count);
  void add_long(Index count);
  void add_held(Index count);

  bool large_, coupled_;
  double unit_ = 1;   // the stiffness of the body
  double first_ = 1;  // its smallest value
};

Grid Builder::draw_grid(double rows) {
  Grid grid;
  const double kind = draw.uniform(0, 1);
  if (kind < 0.1 && rows <= 600) {
    grid.size = {static_cast<Index>(rows)};
  } else if (kind < 0.5) {
    const double ratio = draw.log_uniform(1, 3);
    const auto a = std::max<Index>(4, std::lround(std::sqrt(rows / ratio)));
    grid.size = {a, std::max<Index>(4, std::lround(rows / static_cast<double>(a)))};
  } else {
    const double thickness = draw.chance(0.5) ? std::cbrt(rows) : draw.uniform(3, 14);
    const auto c = std::max<Index>(2, std::min(std::lround(thickness), std::lround(rows / 16)));
    const auto a = std::max<Index>(3, std::lround(std::sqrt(rows / static_cast<double>(c))));
    grid.size = {a, a, c};
  }
  grid.held.assign(grid.size.size(), true);
  if (draw.chance(0.3)) grid.held.back() = grid.size.size() == 1;
  grid.stiffness = draw.chance(0.5) ? 1 : std::ldexp(1, static_cast<int>(draw.integer(-10, 10)));
  return grid;
}

double Builder::stiffness() {
  return unit_ * draw.log_uniform(kSoftest, draw.chance(0.7) ? kMedium : kStiffest);
}

void Builder::add_body(bool tied) {
  double rows = draw.chance(0.85) ? draw.log_uniform(300, 2000) : draw.log_uniform(2000, 1e4);
  if (large_) rows = 1e4 * std::pow(20, draw.uniform(0, 1) * draw.uniform(0, 1));
  const Grid grid = draw_grid(rows);
  unit_ = grid.stiffness;
  first_ = std::max(grid_modes(grid, 1).front().value, 1e-6 * unit_);
  std::string size;
  for (const Index n : grid.size) size += (size.empty() ? "" : "x") + std::to_string(n);
  note(fmt::format("grid {} of {:.3g}", size, grid.stiffness));
  if (!tied) return structure.add_grid(grid);
  Tie tie;
  for (int e = 0; e < 4; ++e) {
    const Index row = draw.integer(0, grid.rows() - 1);
    if (std::find(tie.rows.begin(), tie.rows.end(), row) != tie.rows.end()) continue;
    tie.rows.push_back(row);
    tie.u.push_back(static_cast<double>(draw.one_of<int>({-7, -5, -3, -1, 1, 2, 4, 8})) / 8);
  }
  tie.k = few_bits(unit_ * draw.log_uniform(kSoftest, 1e7));
  note(fmt::format("tie {:.2g}", tie.k));
  structure.add_tied_grid(grid, tie);
}

/// The value of a soft motion: often below those of the body.
double Builder::soft() {
  const double kind = draw.uniform(0, 1);
  if (kind < 0.4) return first_ * draw.log_uniform(1e-6, 1);
  if (kind < 0.6) return first_ * draw.uniform(0.5, 2);
  return first_ * draw.log_uniform(1, 100);
}

/// A part with these values, the largest of which belongs to equal entries in half of the parts.
void Builder::add_dense(std::vector<double> values) {
  std::sort(values.rbegin(), values.rend());
  const Index m = std::ssize(values);
  Eigen::MatrixXd random(m, m);
  for (Index k = 0; k < m * m; ++k) random.data()[k] = draw.uniform(-1, 1);
  if (draw.chance(0.5)) {
    for (Index i = 0; i < m; ++i) random(i, 0) = draw.chance(0.7) ? 1 : -1;
  }
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  const Eigen::VectorXd d = Eigen::Map<const Eigen::VectorXd>(values.data(), m);
  Eigen::MatrixXd A = Q * d.asDiagonal() * Q.transpose();
  Eigen::MatrixXd B;
  if (coupled_ && draw.chance(0.7)) {
    Eigen::MatrixXd C = Eigen::MatrixXd::Identity(m, m);
    for (Index k = 0; k < m * m; ++k) C.data()[k] += draw.uniform(-0.5, 0.5) / std::sqrt(m);
    A = (C.transpose() * A * C).eval();
    B = C.transpose() * C;
    B = ((B + B.transpose()) / 2).eval();
  }
  A = ((A + A.transpose()) / 2).eval();
  structure.add_dense(A, B);
}

void Builder::add_pairs(Index count) {
  const double k = stiffness();
  const bool alike = draw.chance(0.5);
  for (Index part = 0; part < count; ++part) add_dense({alike ? k : stiffness(), soft()});
  note(fmt::format("{} pairs to {:.2g}", count, k));
}

void Builder::add_ties(Index count) {
  const double k = stiffness();
  for (Index part = 0; part < count; ++part) {
    std::vector<double> values{k};
    const Index rows = draw.integer(3, 8);
    const Index motions = draw.chance(0.5) ? rows - 1 : draw.integer(1, rows - 1);
    while (std::ssize(values) <= motions) values.push_back(soft());
    while (std::ssize(values) < rows) values.push_back(k * draw.uniform(0.1, 1));
    add_dense(values);
  }
  note(fmt::format("{} ties of {:.2g}", count, k));
}

void Builder::add_elastic(Index count) {
  for (Index part = 0; part < count; ++part) {
    const double k = stiffness();
    const Index motions = draw.one_of<Index>({1, 2, 3, 3, 6});
    std::vector<double> values;
    while (std::ssize(values) < motions) values.push_back(soft());
    const Index rows = motions + draw.integer(4, 18);
    while (std::ssize(values) < rows) values.push_back(k * draw.log_uniform(1e-2, 1));
    add_dense(values);
  }
  note(fmt::format("{} elastic parts", count));
}

void Builder::add_nested(Index count) {
  const double k = stiffness();
  for (Index part = 0; part < count; ++part) {
    std::vector<double> values{soft()};
    for (const double power : {1.0 / 3, 2.0 / 3, 1.0}) {
      const Index copies = draw.integer(1, 3);
      for (Index j = 0; j < copies; ++j) {
        values.push_back(unit_ * std::pow(k / unit_, power) * draw.uniform(0.5, 1));
      }
    }
    add_dense(values);
  }
  note(fmt::format("{} nested parts to {:.2g}", count, k));
}

void Builder::add_long(Index count) {
  for (Index part = 0; part < count; ++part) {
    const Index rows = draw.integer(10, 200);
    structure.add_chain(rows, stiffness(), soft() * static_cast<double>(rows));
  }
  note(fmt::format("{} chains", count));
}

void Builder::add_held(Index count) {
  const double k = stiffness();
  Eigen::MatrixXd one(1, 1);
  for (Index part = 0; part < count; ++part) {
    one(0, 0) = k * draw.log_uniform(1e-2, 1);
    structure.add_dense(one);
  }
  note(fmt::format("{} held rows to {:.2g}", count, k));
}

void Builder::add_parts(std::string_view family) {
  if (family == "pairs") return add_pairs(many());
  if (family == "ties") return add_ties(many());
  if (family == "tied") return draw.chance(0.7) ? add_pairs(draw.integer(1, 3)) : add_ties(1);
  if (family == "elastic") return add_elastic(draw.integer(1, 5));
  if (family == "nested") return add_nested(draw.integer(1, 10));
  if (family == "long") return add_long(draw.integer(1, 4));
  if (family == "held") {
    add_held(draw.one_of<Index>({1, 3, 10, 100}));
    return add_pairs(draw.integer(1, 3));
  }
  if (family == "bodies") {
    Grid grid = draw_grid(draw.log_uniform(30, 600));
    grid.stiffness = few_bits(stiffness());
    structure.add_grid(grid);
    note(fmt::format("grid {} of {:.2g}", grid.rows(), grid.stiffness));
    return add_pairs(draw.integer(1, 3));
  }
  for (Index kinds = draw.integer(2, 6); kinds > 0; --kinds) {
    add_parts(draw.one_of<std::string_view>({"pairs", "ties", "elastic", "nested", "long"}));
  }
}

/// Mixes rows of the body with rows of the parts behind it.
void rotate(Builder& builder) {
  Structure& structure = builder.structure;
  const Index body = structure.body().rows();
  for (Index k = builder.draw.integer(1, 3); k > 0; --k) {
    std::vector<Index> rows{builder.draw.integer(0, body - 1)};
    for (Index more = builder.draw.integer(1, 3); more > 0; --more) {
      const Index row = builder.draw.integer(body, structure.rows() - 1);
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    structure.rotate(rows, builder.draw);
  }
  builder.parts += ", rotated";
}

Request draw_request(Draw& draw, Index nev, bool large) {
  Request request;
  request.nev = nev;
  request.threads = 1;
  request.device = DeviceChoice::host;
  request.max_iterations = large ? 200 : 400;
  request.time_limit_s = 10;
  request.seed = draw.bits() >> 32;
  if (draw.chance(0.65)) request.method = Method::lobpcg;
  if (draw.chance(0.2)) request.block_size = draw.integer(1, nev + 4);
  if (draw.chance(0.3)) request.tolerance = draw.one_of({1e-4, 1e-5, 1e-6, 1e-10});
  if (draw.chance(0.3)) {
    request.criterion = draw.one_of({Criterion::norm, Criterion::relative, Criterion::absolute});
    if (request.criterion == Criterion::absolute) request.tolerance = 1e-6;
  }
  if (draw.chance(0.5)) {
    request.preconditioner.type = draw.one_of<const char*>(
        {"multigrid", "multigrid", "multigrid", "incomplete_cholesky", "incomplete_cholesky",
         "block_jacobi", "chebyshev", "chebyshev", "jacobi", "none"});
  }
  if (draw.chance(0.15)) request.precision = Precision::mixed;
  return request;
}

}  // namespace

const std::vector<std::string_view>& family_names() {
  static const std::vector<std::string_view> names{"pairs",  "ties",    "tied",   "elastic",
                                                   "nested", "long",    "held",   "bodies",
                                                   "many",   "pencils", "rotated"};
  return names;
}

Case make_case(std::string_view family, std::uint64_t seed, bool large) {
  Draw options(seed ^ 0x5bd1e995U);
  const Index nev = options.one_of<Index>({1, 1, 2, 2, 3, 4, 6, 8, 12});
  const bool pencil = family == "pencils";
  Builder builder(seed, nev + 4, large, pencil);
  std::string_view inner = family;
  if (pencil || family == "rotated")
    inner =
        options.one_of<std::string_view>({"pairs", "ties", "tied", "elastic", "nested", "many"});
  builder.add_body(inner == "tied");
  builder.add_parts(inner);
  Draw& draw = builder.draw;
  Structure& structure = builder.structure;
  const bool rotated = family == "rotated";
  if (rotated) rotate(builder);
  if (draw.chance(0.08)) {
    const double c = structure.modes().front().value * draw.uniform(0.5, 3);
    structure.shift(c);
    builder.parts += fmt::format(", shifted by {:.3g}", c);
  }
  if (pencil || draw.chance(0.1)) structure.scale(static_cast<int>(draw.integer(0, 6)), draw);
  if (draw.chance(0.5)) structure.permute(draw);

  Case made;
  made.request = draw_request(options, nev, large);
  made.parts = builder.parts;
  made.modes = structure.modes();
  made.modes.resize(static_cast<std::size_t>(std::min<Index>(std::ssize(made.modes), nev + 4)));
  const bool largest = options.chance(0.04);
  if (largest) {
    made.request.which = Which::largest;
    if (made.request.preconditioner.type != "none") made.request.preconditioner.type = "auto";
  }
  const auto context = std::make_shared<HostContext>(1);
  made.problem.A = Matrix(structure.A(*context, largest ? -1 : 1), context);
  if (structure.pencil()) made.problem.B = Matrix(structure.B(*context), context);
  if (largest) {
    for (Mode& mode : made.modes) mode.value = -mode.value;
  }
  const bool guessed = !rotated && inner != "tied" && made.request.method == Method::lobpcg;
  if (guessed && options.chance(0.15)) {
    const Index columns = options.integer(1, nev);
    const Index first = options.integer(0, 2 * nev);
    if (first + columns <= structure.body().rows()) {
      const std::vector<double> values = structure.guess(first, columns);
      MultiVector<double, HostSpace> X(*context, structure.rows(), columns);
      std::copy(values.begin(), values.end(), X.view().data());
      made.problem.initial_guess = Block(std::move(X), context);
      made.parts += fmt::format(", guesses {} to {}", first, first + columns - 1);
    }
  }
  return made;
}

}  // namespace heddle::lab
