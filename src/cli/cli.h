// The berth command.
#pragma once

namespace cli {

// Exit codes: 0 done; 1 it failed, the reason is on standard error; 2 the command line was wrong.
int run(int argc, char** argv);

}  // namespace cli
