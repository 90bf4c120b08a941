// The tables of a logs file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

// Opens `path`, durable at every commit, makes the tables where they are missing, and reads the
// file for damage: whole and with its indexes up to 128 MiB, its pages alone up to 1 GiB. Errors:
// sqlite's; "UnsupportedFormat" when a newer version of Berth wrote the file.
base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::string& path);

// Opens it once more, to read only; the file is as open_database() has left it. Errors: sqlite's.
base::Result<std::unique_ptr<sqlite::Database>> open_database_to_read(const std::string& path);

}  // namespace logs
