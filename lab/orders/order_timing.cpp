#include <CLI/CLI.hpp>
#include <algorithm>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/first_line_option.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/base/error.hpp>

#include "common.hpp"
#include "orders/reordering.hpp"

/// Times products with a matrix in other orders of its rows and columns.
namespace {

using namespace heddle;
using namespace heddle::lab;

void run(int argc, char** argv) {
  ReorderingOptions options;
  std::vector<std::string> words = {"all"};
  std::string device = "host";
  std::string json;
  CLI::App app(
      "Times products in other orders of rows and columns, of a matrix that is not square "
      "of rows alone.",
      "order_timing");
  app.add_option("A", options.matrix, kMatrixHelp);
  apps::add_first_line_option(app, options.first_line);
  app.add_option("--orders", words, "all: those that the matrix has")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"all", "rcm", "metis", "radix", "jaccard"}).description(""));
  app.add_option("--columns", options.columns, "of B")->check(apps::at_least<Index>(1));
  app.add_option("--products", options.products, "within which an order must pay")
      ->check(apps::finite_number(false));
  app.add_flag("--shuffle", options.shuffled, "permute the matrix at random first");
  app.add_option("--device", device)->check(CLI::IsMember({"host", "cuda"}).description(""));
  app.add_option("--threads", options.threads, "of the host; 0: by the machine")
      ->check(apps::at_least(0));
  app.add_flag("--json{-}", json, "print JSON; --json=FILE: write it to FILE");
  if (!apps::parse(app, apps::with_joined_json(argc, argv))) return;
  if (options.matrix.empty()) throw InvalidArgument("a matrix is missing");
  const auto asked = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const RowOrder order : kRowOrders) {
    if (asked(row_order_name(order))) options.orders.push_back(order);
  }
  options.all = asked("all");
  options.on_gpu = device == "cuda";
  const ReorderingReport report = time_orders(options);
  give(json, to_text(report), to_json(report));
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("order_timing", [&] {
    run(argc, argv);
    return apps::ExitCode::converged;
  });
}
