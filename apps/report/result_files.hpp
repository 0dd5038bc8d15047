#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/drivers/place/device.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// The names of all files that a run may write to its output folder.
const std::vector<std::string_view>& result_file_names();

/// Writes all results to `files`, whose run has started. `json`: the text of `result.json`.
/// `device`: that of the solve, whose processes may have rows of the vectors. Then the files of an
/// earlier run are deleted. Throws `InputError`.
void write_results(OutputFiles& files, Device& device, const Config& config, const Report& report,
                   const std::string& json);

/// Writes the `result.json` of a run that failed. What an earlier run left in the folder is kept in
/// the folder `previous`. Throws `InputError`.
void write_failure(OutputFiles& files, const Config& config, const Report& report,
                   const Failure& failure);

}  // namespace heddle::apps
