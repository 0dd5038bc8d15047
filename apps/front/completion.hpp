#pragma once

#include <string>
#include <string_view>

namespace heddle::apps {

/// The script that teaches `shell`, "bash" or "zsh", the commands, options and keys of heddle's
/// programs. Throws `InvalidArgument` for another shell.
std::string completion_script(std::string_view shell);

}  // namespace heddle::apps
