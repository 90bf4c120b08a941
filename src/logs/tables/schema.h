// The tables of a logs file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

// Opens `path`, durable at every commit, and makes the tables where they are missing.
// Errors: sqlite's; "Corrupt" too when the file was written by a newer version of Berth.
base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::string& path);

}  // namespace logs
