// A data directory: where a server's state, logs and access key live.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "auth/key_ring.h"
#include "base/result.h"

namespace cli {

// What clients and agents on this machine need to know of a server; kept in DIR/credentials.json,
// which only its owner can read.
struct Credentials {
  std::string url;  // "http://127.0.0.1:7117".
  std::string region = "us-east-1";
  std::string account = "123456789012";
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;   // Of a key that is good for a while; never kept in the file.
  std::string ca_file;         // Of certificates to trust; empty: the system's.
  std::string advertised_url;  // For other machines; empty: `url` does for them, too.
};

// /var/lib/berth for root, else $XDG_DATA_HOME/berth or ~/.local/share/berth.
std::filesystem::path default_data_dir();

// Makes the directory, readable by its owner only. Errors: "IoError" naming it and what to do.
base::Result<void> make_data_dir(const std::filesystem::path& dir);

// Replaces the file as a whole, with mode 0600. Errors: "IoError".
base::Result<void> write_private_file(const std::filesystem::path& path, std::string_view text);
// `length` unpredictable letters and digits, and "-" and "_".
std::string random_name(size_t length);

std::filesystem::path credentials_path(const std::filesystem::path& dir);
// Errors: "NotFound" when no server was ever started there; "IoError"; "Corrupt".
base::Result<Credentials> read_credentials(const std::filesystem::path& dir);
// Replaces the file as a whole, with mode 0600.
base::Result<void> write_credentials(const std::filesystem::path& dir,
                                     const Credentials& credentials);
// The stored access key with its region and account, or a fresh one of those that are wanted, or of
// the defaults. Errors: also "InvalidParameterException" when others are stored: the ARNs of all
// that is kept have them.
base::Result<Credentials> ensure_credentials(const std::filesystem::path& dir,
                                             const std::optional<std::string>& region,
                                             const std::optional<std::string>& account);

// The 32 bytes kept at `path`, made when there is no such file; only its owner can read it. Errors:
// "IoError", and "Corrupt" for a file that holds something else.
base::Result<std::string> ensure_key_file(const std::filesystem::path& path);

// The full access key of those credentials.
auth::AccessKey access_key(const Credentials& credentials);

}  // namespace cli
