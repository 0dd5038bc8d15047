#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/report/run_facts.hpp>
#include <heddle/apps/standard_input.hpp>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace heddle::apps {
namespace {

std::string date_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The model of the first CPU in the list of Linux.
std::string processor_name() {
  constexpr std::string_view kKey = "model name";
  std::ifstream list("/proc/cpuinfo");
  for (std::string line; std::getline(list, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(kKey) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::optional<InputSum> sum_of(std::string key, const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty()) return std::nullopt;
  const std::filesystem::path content = existing_file(path);
  if (!std::filesystem::is_regular_file(content, error)) return std::nullopt;
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(content.c_str(), "rb"), close);
  if (!file) return std::nullopt;
  InputSum sum{std::move(key), content};
  if (path == kStandardInput) sum.path = input_name(path);
  uLong crc = crc32(0, nullptr, 0);
  std::vector<unsigned char> portion(std::size_t{1} << 20);
  while (const std::size_t count = std::fread(portion.data(), 1, portion.size(), file.get())) {
    crc = crc32(crc, portion.data(), static_cast<uInt>(count));
    sum.bytes += count;
  }
  sum.crc32 = static_cast<std::uint32_t>(crc);
  return std::ferror(file.get()) != 0 ? std::nullopt : std::optional(std::move(sum));
}

}  // namespace

RunFacts run_facts(int argc, const char* const* argv) {
  std::error_code ignored;
  return {date_in_utc(),
          host_name(),
          processor_name(),
          std::filesystem::current_path(ignored).string(),
          {argv, argv + argc}};
}

std::vector<InputSum> input_sums(const Config& config) {
  const ProblemConfig& problem = config.problem;
  const std::filesystem::path none;
  const std::initializer_list<std::pair<const char*, const std::filesystem::path&>> files = {
      {"problem.matrix", problem.matrix.path},
      {"problem.mass", problem.mass ? problem.mass->path : none},
      {"problem.geometric_stiffness",
       problem.geometric_stiffness ? problem.geometric_stiffness->path : none},
      {"problem.constraints", problem.constraints},
      {"problem.initial_guess", problem.initial_guess},
      {"problem.coordinates", problem.coordinates},
      {"problem.near_null", problem.near_null},
      {"problem.rhs", problem.rhs.path}};
  std::vector<InputSum> sums;
  for (const auto& [key, path] : files) {
    if (auto sum = sum_of(key, path)) sums.push_back(*std::move(sum));
  }
  return sums;
}

}  // namespace heddle::apps
