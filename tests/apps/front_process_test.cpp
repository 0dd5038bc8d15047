#include <gtest/gtest.h>

#include <algorithm>
#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <apps/terminal_process.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using test::ProcessResult;

/// Runs `heddle` in a folder of its own, with this folder first on the path.
class Front : public testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::executable("heddle"));
    arguments.insert(arguments.begin(), {"CUDA_VISIBLE_DEVICES=",
                                         "PATH=" + folder_.path().string() + ":/usr/bin:/bin"});
    return test::run_process(folder_.path(), arguments);
  }

  /// The output of a command that succeeds.
  std::string output(const std::vector<std::string>& arguments) {
    const ProcessResult run = this->run(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return run.out;
  }

  void program(const std::string& name, const std::string& script) {
    std::filesystem::permissions(folder_.write(name, "#!/bin/sh\n" + script),
                                 std::filesystem::perms::owner_all);
  }

  /// The words that bash offers after these, of which the last one is incomplete.
  std::vector<std::string> completions(const std::string& words) {
    const std::string script =
        "source <(\"$heddle\" completion bash)\nCOMP_WORDS=(" + words +
        ")\n[[ -z $empty ]] || COMP_WORDS+=('')\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_heddle\n((${#COMPREPLY[@]})) && printf '%s\\n' "
        "\"${COMPREPLY[@]}\"\n";
    const ProcessResult run = test::run_process(
        folder_.path(),
        {"heddle=" + test::executable("heddle"), words.ends_with(' ') ? "empty=1" : "empty=",
         "PATH=" + folder_.path().string() + ":/usr/bin:/bin", "bash", "-c", script});
    EXPECT_EQ(run.err, "");
    std::vector<std::string> offered;
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) offered.push_back(line);
    return offered;
  }

  static bool holds(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(Front, RunsTheProgramOfAnUnknownWordWithItsArgumentsAndExitCode) {
  program("heddle-hello", "printf '<%s>' \"$@\"\necho failed >&2\nexit 7\n");
  const ProcessResult run = this->run({"hello", "a b", "--help", "-"});
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.out, "<a b><--help><->");
  EXPECT_EQ(run.err, "failed\n");
  program("heddle-info", "echo from the path\n");  // the folder of heddle comes first
  EXPECT_NE(output({"info", "laplace1d:9"}).find("9"), std::string::npos);
  EXPECT_NE(output({"lobpcg", "--version"}).find("heddle-lobpcg "), std::string::npos);
}

TEST_F(Front, AMistypedWordGetsTheNearestName) {
  program("heddle-hello", "exit 0\n");
  for (const auto& [word, near] : std::vector<std::pair<std::string, std::string>>{
           {"slove", "solve"}, {"inof", "info"}, {"helllo", "hello"}, {"lanczso", "lanczos"}}) {
    const ProcessResult run = this->run({word, "a"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err.rfind("heddle: error: '" + word + "' is no command of heddle (did you mean " +
                                near + "?); commands: ",
                            0),
              0u)
        << run.err;
  }
  EXPECT_EQ(this->run({"qqqqqqqq"}).err.find("did you mean"), std::string::npos);
}

TEST_F(Front, APageIsShownByManOnATerminalAndElsePrinted) {
  program("man", "echo \"shown by man $*\"\nhead -c 18\ncat >/dev/null\n");
  const std::string path = "PATH=" + folder_.path().string() + ":/usr/bin:/bin";
  test::TerminalProcess process(folder_.path(), {path, test::executable("heddle"), "man", "solve"});
  EXPECT_EQ(process.wait(), 0);
  EXPECT_EQ(process.shown().find("shown by man -l -"), 0u) << process.shown();
  EXPECT_NE(process.shown().find(".TH HEDDLE"), std::string::npos) << process.shown();
  EXPECT_EQ(output({"man", "solve"}).find(".TH HEDDLE"), 0u);
  program("man", "cat >/dev/null\nexit 1\n");
  test::TerminalProcess failing(folder_.path(), {path, test::executable("heddle"), "man", "solve"});
  EXPECT_EQ(failing.wait(), 0);
  EXPECT_EQ(failing.shown().find(".TH HEDDLE"), 0u) << failing.shown();
}

TEST_F(Front, AFileInPlaceOfACommandIsNamed) {
  folder_.write("K.mtx", "");
  const ProcessResult run = this->run({"K.mtx", "-n", "3"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err,
            "heddle: error: 'K.mtx' stands where a command is expected; run heddle solve K.mtx to "
            "solve it, heddle info K.mtx to inspect a matrix\n");
}

TEST_F(Front, ProgramsOfThePythonPackageAreKnownWhetherOrNotTheyAreThere) {
  for (const std::string word : {"fetch", "study", "plot"}) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{word, "x"}, {"help", word}}) {
      const ProcessResult run = this->run(words);
      EXPECT_EQ(run.exit_code, 1);
      EXPECT_EQ(run.err,
                "heddle: error: heddle " + word +
                    " belongs to heddle's Python package, and heddle-" + word +
                    " is neither beside heddle nor on the path; run pip install '.[study]' in "
                    "the folder of heddle's sources\n");
    }
    EXPECT_NE(output({"help"}).find("\n  " + word + " "), std::string::npos);
    EXPECT_NE(output({"man"}).find("\\fB" + word + "\\fR"), std::string::npos);
    EXPECT_TRUE(holds(completions("heddle " + word.substr(0, 2)), word));
    EXPECT_NE(output({"completion", "zsh"}).find("'" + word + ":"), std::string::npos);
  }
  program("heddle-study", "echo \"study $*\"\n");
  EXPECT_EQ(output({"study", "study.yaml", "--dry-run"}), "study study.yaml --dry-run\n");
  EXPECT_EQ(output({"help", "study"}), "study --help\n");
  EXPECT_EQ(this->run({"stduy"}).err.rfind(
                "heddle: error: 'stduy' is no command of heddle (did you mean study?)", 0),
            0u);
}

TEST_F(Front, HelpAndVersion) {
  const std::string help = output({"help"});
  EXPECT_EQ(output({"--help"}), help);
  for (const std::string word : {"solve", "info", "config", "completion", "man", "lanczos"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
  EXPECT_NE(output({"help", "solve"}).find("--mass FILE|NAME:SIZES"), std::string::npos);
  EXPECT_EQ(output({"help", "solve"}), output({"solve", "--help"}));
  EXPECT_NE(output({"help", "info"}).find("--spectrum"), std::string::npos);
  EXPECT_NE(output({"completion", "--help"}).find("bash|zsh"), std::string::npos);
  EXPECT_EQ(output({"--version"}).rfind("heddle ", 0), 0u);
  EXPECT_EQ(output({"version"}), output({"--version"}));
  const ProcessResult nothing = run({});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_EQ(nothing.err.rfind(help, 0), 0u);
}

TEST_F(Front, PrintsKeysAndSchema) {
  EXPECT_NE(output({"config"}).find("refresh_interval:"), std::string::npos);
  EXPECT_NE(output({"config", "--markdown"}).find("**`solver.nev`**"), std::string::npos);
  const auto schema = nlohmann::json::parse(output({"config", "--schema"}));
  EXPECT_TRUE(schema.at("definitions").contains("block_cg"));
  EXPECT_EQ(run({"config", "--shcema"}).exit_code, 1);
}

TEST_F(Front, BashCompletesCommandsOptionsValuesKeysAndFiles) {
  program("heddle-hello", "exit 0\n");
  folder_.write("K.mtx", "");
  EXPECT_EQ(completions("heddle so"), std::vector<std::string>{"solve"});
  EXPECT_TRUE(holds(completions("heddle "), "hello"));
  EXPECT_TRUE(holds(completions("heddle "), "completion"));
  EXPECT_EQ(completions("heddle solve --which la"), std::vector<std::string>{"largest"});
  EXPECT_EQ(completions("heddle-lobpcg --which "),
            (std::vector<std::string>{"smallest", "largest"}));
  EXPECT_EQ(completions("heddle solve --mas"), std::vector<std::string>{"--mass"});
  EXPECT_EQ(completions("heddle-cg --mas"), std::vector<std::string>{});
  EXPECT_TRUE(holds(completions("heddle cg --rh"), "--rhs"));
  EXPECT_EQ(completions("heddle solve K.mtx --mass K"), std::vector<std::string>{"K.mtx"});
  EXPECT_EQ(completions("heddle solve K"), std::vector<std::string>{"K.mtx"});
  EXPECT_EQ(completions("heddle solve --set solver.max_b"),
            std::vector<std::string>{"solver.max_basis="});
  EXPECT_EQ(completions("heddle completion z"), std::vector<std::string>{"zsh"});
  EXPECT_EQ(completions("heddle info --transform norm"),
            std::vector<std::string>{"normalized_laplacian"});
}

TEST_F(Front, ZshIsGivenTheSameOptions) {
  const std::string script = output({"completion", "zsh"});
  EXPECT_EQ(script.rfind("#compdef heddle heddle-lobpcg heddle-lanczos heddle-cg heddle-info "
                         "heddle-spgemm heddle-spmm\n",
                         0),
            0u);
  EXPECT_NE(script.find(":smallest|largest|interval|nearest:(smallest largest interval nearest)"),
            std::string::npos);
  if (!std::filesystem::exists("/usr/bin/zsh")) GTEST_SKIP() << "there is no zsh";
  folder_.write("_heddle", script);
  EXPECT_EQ(test::run_process(folder_.path(), {"zsh", "-n", "_heddle"}).exit_code, 0);
}

TEST_F(Front, ManualPagesHoldEveryOption) {
  for (const std::string page : {"solve", "lobpcg", "lanczos", "cg", "info", "spgemm", "spmm"}) {
    const std::string text = output({"man", page});
    EXPECT_EQ(text, output({"man", "heddle-" + page}));
    EXPECT_EQ(text.rfind(".TH HEDDLE", 0), 0u);
    std::istringstream words(output({page, "--help"}));
    int options = 0;
    for (std::string word; words >> word;) {
      if (!word.starts_with("--") || word == "--set" || !std::isalpha(word[2])) continue;
      std::string name = word.substr(0, word.find_first_of(",;:=.{"));
      for (auto at = name.find('-'); at != std::string::npos; at = name.find('-', at + 2)) {
        name.insert(at, "\\");
      }
      EXPECT_NE(text.find(name), std::string::npos) << page << " " << name;
      ++options;
    }
    EXPECT_GE(options, 5);
    EXPECT_NE(text.find(".SH Exit codes"), std::string::npos);
  }
  EXPECT_NE(output({"man"}).find("heddle\\-solve"), std::string::npos);
  EXPECT_NE(output({"man", "config"}).find("\\fBsolver.nev\\fR"), std::string::npos);
  EXPECT_EQ(run({"man", "gone"}).exit_code, 1);
}

TEST_F(Front, ManualPagesAreGoodRoff) {
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "there is no groff";
  for (const std::string page : {"heddle", "solve", "lobpcg", "info", "config"}) {
    folder_.write("page.1", output({"man", page}));
    const ProcessResult run =
        test::run_process(folder_.path(), {"groff", "-man", "-ww", "-z", "-Tutf8", "page.1"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "") << page;
  }
}

}  // namespace
}  // namespace heddle::apps
