#pragma once

namespace heddle::apps {

/// The main function of the program `heddle`. `heddle solve` solves in this process. Other commands
/// of heddle print something. `heddle NAME` replaces the process by the program heddle-NAME.
int run_front(int argc, const char* const* argv);

}  // namespace heddle::apps
