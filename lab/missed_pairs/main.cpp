#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/program_help.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "missed_pairs/cases.hpp"
#include "missed_pairs/draw.hpp"
#include "missed_pairs/judge.hpp"

/// Solves problems with stiff parts whose soft motions an eigensolver may miss, and compares with
/// their known eigenvalues. A line of JSON for each wrong answer goes to stdout, a table by family
/// at the end to stderr.
namespace {

using namespace heddle;
using namespace heddle::lab;

struct Arguments {
  std::vector<std::int64_t> seeds{1, 1000};  // the first one, and how many
  int jobs = 1;
  std::string family;
  double large_share = 0.1;
  double minutes = 1e9;
  bool show = false;
  Certify certify = Certify::automatic;
};

/// The counts of a family, which all processes share.
struct Count {
  std::array<std::atomic<std::int64_t>, 5> of_verdict{};
  std::atomic<std::int64_t> refused{0}, milliseconds{0};
};

/// What the processes share.
struct Board {
  std::atomic<std::int64_t> next{0};
  std::array<Count, 16> counts{};
  std::array<std::atomic<std::int64_t>, 1024> at_work{};  // the seed of each process
  std::atomic<std::int64_t> crashed{0}, cut{0};
};

constexpr std::array<const char*, 5> kVerdicts{"right", "missing", "proven_missing", "beyond_bound",
                                               "unsolved"};

std::size_t family_of(const Arguments& arguments, std::int64_t seed) {
  const auto& names = family_names();
  if (arguments.family.empty()) return static_cast<std::size_t>(seed) % names.size();
  const auto found = std::find(names.begin(), names.end(), arguments.family);
  return static_cast<std::size_t>(found - names.begin());
}

nlohmann::json describe(const Case& given, const Solution& solution) {
  const Request& request = given.request;
  nlohmann::json line;
  line["n"] = given.problem.A.rows();
  line["parts"] = given.parts;
  line["pencil"] = given.problem.B.has_value();
  line["options"] =
      fmt::format("{} nev {} block {} tol {} criterion {} preconditioner {} precision {} {}",
                  method_name(request.method), request.nev, request.block_size, request.tolerance,
                  static_cast<int>(request.criterion), request.preconditioner.type,
                  request.precision == Precision::mixed ? "mixed" : "double",
                  request.which == Which::smallest ? "smallest" : "largest");
  line["method"] = solution.method;
  line["status"] = status_name(solution.status);
  line["completeness"] = solution.completeness.name();
  line["values"] = solution.eigenvalues;
  line["bounds"] = solution.error_bounds;
  for (const Mode& mode : given.modes) line["truth"].push_back({mode.value, mode.error});
  return line;
}

/// One write per line, so that lines of several processes do not mix.
void put(const nlohmann::json& line) {
  const std::string text = line.dump() + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) throw Error("stdout cannot be written");
}

void run_seed(const Arguments& arguments, Board& board, Device& device, std::int64_t seed) {
  const std::size_t family = family_of(arguments, seed);
  Count& count = board.counts[family];
  Draw size(static_cast<std::uint64_t>(seed) ^ 0xabcdef12345U);
  const bool large = size.chance(arguments.large_share);
  const auto begin = Clock::now();
  nlohmann::json line{{"family", family_names()[family]}, {"seed", seed}, {"large", large}};
  Case given = make_case(family_names()[family], static_cast<std::uint64_t>(seed), large);
  given.request.certify = arguments.certify;
  try {
    const auto solving = Clock::now();
    const Solution solution = solve(device, given.problem, given.request);
    const Verdict verdict = judge(given, solution);
    ++count.of_verdict[static_cast<std::size_t>(verdict)];
    const bool wrong = verdict != Verdict::right && verdict != Verdict::unsolved;
    if (wrong || arguments.show) {
      line["kind"] = kVerdicts[static_cast<std::size_t>(verdict)];
      line["seconds"] = seconds_since(solving);
      line.update(describe(given, solution));
      if (arguments.show) line["reason"] = solution.reason;
      put(line);
    }
  } catch (const Error& error) {
    ++count.refused;
    if (arguments.show) {
      line["kind"] = "refused";
      line["parts"] = given.parts;
      line["reason"] = error.what();
      put(line);
    }
  }
  count.milliseconds += static_cast<std::int64_t>(1e3 * seconds_since(begin));
}

void work(const Arguments& arguments, Board& board, std::size_t job) {
  const auto begin = Clock::now();
  Device device = device_for({.device = DeviceChoice::host, .threads = 1});
  while (seconds_since(begin) < 60 * arguments.minutes) {
    const std::int64_t k = board.next++;
    if (k >= arguments.seeds[1]) return;
    board.at_work[job] = arguments.seeds[0] + k;
    run_seed(arguments, board, device, arguments.seeds[0] + k);
  }
}

/// Waits for a job. One that is still at work a minute after the last run may have begun is ended,
/// and its run does not count. Returns the state of the process, 0 if it was ended.
int wait_or_end(pid_t process, const Arguments& arguments, Clock::time_point begin, Board& board) {
  constexpr double kGrace = 60;
  int state = 0;
  while (waitpid(process, &state, WNOHANG) == 0) {
    if (seconds_since(begin) > 60 * arguments.minutes + kGrace) {
      kill(process, SIGKILL);
      waitpid(process, &state, 0);
      ++board.cut;
      return 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return state;
}

/// Runs the jobs, each in a process of its own. One that a signal ends is a finding.
void run_jobs(const Arguments& arguments, Board& board) {
  const auto begin = Clock::now();
  std::vector<pid_t> processes(static_cast<std::size_t>(arguments.jobs));
  for (std::size_t job = 0; job < processes.size(); ++job) {
    processes[job] = fork();
    if (processes[job] < 0) throw Error("no process can be started");
    if (processes[job] == 0) {
      work(arguments, board, job);
      _exit(0);
    }
  }
  for (std::size_t job = 0; job < processes.size(); ++job) {
    const int state = wait_or_end(processes[job], arguments, begin, board);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) continue;
    ++board.crashed;
    put({{"kind", "crashed"}, {"seed", board.at_work[job].load()}, {"state", state}});
  }
}

/// Prints the table. Returns the number of wrong answers.
std::int64_t report(const Board& board) {
  fmt::print(stderr, "{:<9} {:>7} {:>7} {:>8} {:>8} {:>7} {:>9} {:>8} {:>8}\n", "family", "runs",
             "right", "missing", "proven!", "bounds", "unsolved", "refused", "runs/s");
  std::int64_t wrong = board.crashed;
  for (std::size_t family = 0; family < family_names().size(); ++family) {
    const Count& count = board.counts[family];
    std::int64_t runs = count.refused;
    for (const auto& verdict : count.of_verdict) runs += verdict;
    if (runs == 0) continue;
    wrong += count.of_verdict[1] + count.of_verdict[2] + count.of_verdict[3];
    fmt::print(stderr, "{:<9} {:>7} {:>7} {:>8} {:>8} {:>7} {:>9} {:>8} {:>8.2f}\n",
               family_names()[family], runs, count.of_verdict[0].load(), count.of_verdict[1].load(),
               count.of_verdict[2].load(), count.of_verdict[3].load(), count.of_verdict[4].load(),
               count.refused.load(),
               1e3 * static_cast<double>(runs) / static_cast<double>(count.milliseconds + 1));
  }
  fmt::print(stderr, "{} wrong; {} processes crashed, {} runs cut off\n", wrong,
             board.crashed.load(), board.cut.load());
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("missed_pairs", [&] {
    Arguments arguments;
    CLI::App app("Looks for eigenpairs that solves miss.", "missed_pairs");
    app.add_option("--seeds", arguments.seeds, "the first seed and how many")->expected(2);
    app.add_option("--jobs", arguments.jobs, "processes, of one thread each")
        ->check(CLI::Range(1, 1024));
    app.add_option("--family", arguments.family, "one family")
        ->check(CLI::IsMember(family_names()));
    app.add_option("--large-share", arguments.large_share,
                   "the share of problems of 1e4 rows and more")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--minutes", arguments.minutes,
                   "begin no run after these minutes, and end a minute later");
    app.add_option("--certify", arguments.certify, "whether eigenvalues are counted")
        ->transform(CLI::CheckedTransformer(std::map<std::string, Certify>{
            {"auto", Certify::automatic}, {"inertia", Certify::inertia}, {"no", Certify::no}}));
    app.add_flag("--show", arguments.show, "print a line for every run");
    if (!apps::parse(app, apps::with_joined_json(argc, argv))) return apps::ExitCode::converged;
    void* memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no shared memory");
    Board& board = *new (memory) Board;
    run_jobs(arguments, board);
    return report(board) == 0 ? apps::ExitCode::converged : apps::ExitCode::not_converged;
  });
}
