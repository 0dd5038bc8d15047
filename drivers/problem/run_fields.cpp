#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/problem/run_fields.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {
namespace {

constexpr Index kMaxThreads = 4096;
constexpr Index kMaxDevices = 1024;

using Row = FieldRow<Request>;

void add_spmm(FieldTable<Request>& table) {
  std::vector<std::string_view> kernels = spmm_choices();
  for (const std::string_view name : all_spmm_kernels()) kernels.push_back(name);
  Row(
      table, "spmm.kernel",
      "auto: predicted to be the fastest on the matrix; measure: measured, where the prediction "
      "leaves a doubt; rule: by thresholds; a name: of a kernel that the device has",
      [](auto& r) -> auto& { return r.spmm.kernel; }, words_from({}, kernels))
      .name("spmm.kernel")
      .option("--kernel");
  Words<RowOrder> orders;
  for (const RowOrder order : kRowOrders) orders.emplace_back(row_order_name(order), order);
  Row(
      table, "spmm.reorder",
      "order of rows and columns during the solve; auto: rcm where the model says that faster "
      "products repay it; none: that of the matrix; rcm: reverse Cuthill-McKee; metis: parts of "
      "the graph; radix: rows sorted as binary numbers; jaccard: like rows together",
      [](auto& r) -> auto& { return r.reorder; }, orders)
      .option("--reorder")
      .aliases({"ordering", "permutation", "reordering"});
  Row(table, "spmm.cache",
      "what measure finds is kept for this process, or in a file in $XDG_CACHE_HOME (~/.cache), "
      "too",
      [](auto& r) -> auto& { return r.spmm.verdict_file; },
      {{"process", ""}, {"disk", default_verdict_file()}})
      .name("spmm.verdict_file");
  Row(
      table, "", "", [](auto& r) -> auto& { return r.spmm.transpose; })
      .name("spmm.transpose");
}

void add_machine(FieldTable<Request>& table) {
  Row(table, "device", "where to run; auto: a GPU if this build and machine have one",
      [](auto& r) -> auto& { return r.device; },
      {{"auto", DeviceChoice::automatic},
       {"cuda", DeviceChoice::cuda},
       {"host", DeviceChoice::host}})
      .option("--device")
      .aliases({"backend", "executor"});
  Row(table, "devices",
      "GPUs of this machine that solve together, led by one process; all: those it has",
      [](auto& r) -> auto& { return r.devices; }, {{"all", 0}})
      .integer({1, kMaxDevices})
      .option("--devices")
      .aliases({"gpus", "num_gpus", "ngpus", "num_devices"});
  Row(table, "precision", "mixed: single precision as far as it reaches, then double",
      [](auto& r) -> auto& { return r.precision; },
      {{"double", Precision::full}, {"single", Precision::single}, {"mixed", Precision::mixed}})
      .option("--precision")
      .aliases({"dtype", "value_type", "scalar"});
  Row(
      table, "threads",
      "CPU threads; 0: OMP_NUM_THREADS, else as many as CPUs, affinity and quota allow",
      [](auto& r) -> auto& { return r.threads; })
      .integer({0, kMaxThreads})
      .option("--threads")
      .aliases({"num_threads", "nthreads", "omp_num_threads", "cores"});
  Row(table, "distribution",
      "of rows over several processes; rows: in the order of the matrix; metis: by a partition of "
      "its graph; auto: metis where rows need many rows of other processes",
      [](auto& r) -> auto& { return r.distribution; },
      {{"auto", Distribution::automatic},
       {"rows", Distribution::rows},
       {"metis", Distribution::metis}});
  Row(
      table, "seed", "of the random start: the same seed gives the same bits",
      [](auto& r) -> auto& { return r.seed; })
      .integer(kNatural)
      .option("--seed")
      .aliases({"iseed", "random_seed", "rng"});
}

void add_checkpoint(FieldTable<Request>& table) {
  Row(
      table, "checkpoint.file",
      "file that holds the state of the solve, relative to the current folder; deleted once "
      "converged",
      [](auto& r) -> auto& { return r.checkpoint.file; })
      .name("checkpoint.file")
      .keyword("checkpoint")
      .new_file()
      .required()
      .readers(kWithCheckpoint)
      .option("--checkpoint")
      .aliases({"path", "filename", "name"});
  Row(
      table, "checkpoint.every_s", "seconds between two checkpoints; one more is written at a stop",
      [](auto& r) -> auto& { return r.checkpoint.every_s; })
      .name("checkpoint.every_s")
      .keyword("checkpoint_every")
      .real({.low = 0})
      .readers(kWithCheckpoint)
      .aliases({"interval", "every", "period", "seconds"});
  Row(table, "", "", [](auto& r) -> auto& { return r.checkpoint.resume; },
      {{"true", true}, {"false", false}})
      .name("checkpoint.resume")
      .keyword("resume")
      .readers(kWithCheckpoint);
  Row(
      table, "", "", [](auto& r) -> auto& { return r.checkpoint.identity; })
      .name("checkpoint.identity");
}

}  // namespace

Words<std::string> words_from(std::initializer_list<std::string_view> first,
                              const std::vector<std::string_view>& more) {
  Words<std::string> words;
  for (const std::string_view word : first) words.emplace_back(word, word);
  for (const std::string_view word : more) words.emplace_back(word, word);
  return words;
}

void add_run_fields(FieldTable<Request>& table) {
  add_spmm(table);
  add_machine(table);
  add_checkpoint(table);
}

}  // namespace heddle::detail
