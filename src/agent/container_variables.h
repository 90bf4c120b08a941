// The variables that a container gets only on its machine: those of files, and secrets. None of
// them may be one that decides about GPUs (model/reserved_variables.h): those are in the body
// already.
#pragma once

#include <string>

#include "agent/environment_files.h"
#include "agent/secrets.h"
#include "json/value.h"

namespace agent {

// Those that stand in the body's "Env" already stay as they are. `file` is for the sentence.
// Errors: "ResourceInitializationError"; the body is then as it was.
SetupResult<void> add_file_variables(json::Value& body, const std::string& file,
                                     const Variables& variables);

// A secret wins over a variable of the same name, as in the official agent. Errors: as above.
SetupResult<void> add_secret_variables(json::Value& body, const Variables& secrets);

}  // namespace agent
