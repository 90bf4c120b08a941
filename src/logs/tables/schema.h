// The tables of a logs file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

// Opens `path`, durable at every commit, makes the tables where they are missing, and reads a file
// of up to 1 GiB for damage. Errors: sqlite's; "UnsupportedFormat" when a newer version of Berth
// wrote the file.
base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::string& path);

}  // namespace logs
