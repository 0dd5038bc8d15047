#include <CLI/CLI.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/base/error.hpp>
#include <utility>

#include "common.hpp"
#include "prediction/report.hpp"

/// The model's prediction for products with a matrix: every kernel, the blocks that tensor cores
/// would multiply, other orders of rows and columns.
namespace {

using namespace heddle;
using namespace heddle::lab;

void run(int argc, char** argv) {
  std::string name;
  std::string json;
  bool blocks = false;
  bool orders = false;
  CLI::App app("Predicts the throughput of every SpMM kernel of a GPU.", "spmm_prediction");
  app.add_option("MATRIX", name, kMatrixHelp);
  app.add_flag("--blocks", blocks,
               "count the dense blocks that tensor cores would multiply, before and after "
               "clustering rows and columns");
  app.add_flag("--orders", orders,
               "find other orders of rows and columns and predict what they are worth to products");
  app.add_flag(
      "--json{-}", json,
      "print JSON; --json=FILE: write it to FILE, of which heddle plot draws the roofline");
  if (!apps::parse(app, apps::with_joined_json(argc, argv))) return;
  if (name.empty()) throw InvalidArgument("a matrix is missing");
  HostContext context;
  const HostCsrMatrix<double> A = load(context, name, "MATRIX");
  PredictionReport report = predict(context, name, A.view(), {1, 4, 8, 16, 32, 64});
  if (blocks) report.blocks = inspect_blocks(context, pattern_of(A.view()));
  if (orders) report.orders = inspect_orders(context, pattern_of(A.view()), {8, 32});
  give(json, to_text(report), to_json(report));
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("spmm_prediction", [&] {
    run(argc, argv);
    return apps::ExitCode::converged;
  });
}
