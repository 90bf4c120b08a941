#include "cli/installation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "api/describe.h"
#include "api/json.h"
#include "base/format.h"
#include "crypto/crypto.h"

namespace cli {

API_DESCRIBED(Credentials);
API_DESCRIBE(Credentials, API_MEMBER(url, "url"), API_MEMBER(region, "region"),
             API_MEMBER(account, "account"), API_REQUIRED(access_key_id, "accessKeyId"),
             API_REQUIRED(secret_access_key, "secretAccessKey"), API_MEMBER(ca_file, "caFile"),
             API_MEMBER(advertised_url, "advertisedUrl"));

namespace {

constexpr size_t key_file_bytes = 32;

// Text of `length` characters out of `alphabet`, which has at most 256.
std::string random_text(size_t length, std::string_view alphabet) {
  std::string text;
  const size_t fair = 256 / alphabet.size() * alphabet.size();
  while (text.size() < length) {
    for (const char c : crypto::random_bytes(length)) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte < fair && text.size() < length) text += alphabet[byte % alphabet.size()];
    }
  }
  return text;
}

std::unexpected<base::Error> installation_error(const std::filesystem::path& path,
                                                std::string_view what) {
  return base::fail("IoError",
                    base::format("{} {}: {}. Name another directory with --data, or give "
                                 "this user the right to write there.",
                                 what, path.string(), std::strerror(errno)));
}

base::Result<void> write_private(const std::filesystem::path& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return installation_error(path, "cannot write");
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0) {
      ::close(file);
      return installation_error(path, "cannot write");
    }
    done += static_cast<size_t>(count);
  }
  if (::fsync(file) != 0 || ::close(file) != 0) return installation_error(path, "cannot write");
  return {};
}

}  // namespace

std::filesystem::path default_data_dir() {
  if (::geteuid() == 0) return "/var/lib/berth";
  const char* const data_home = std::getenv("XDG_DATA_HOME");
  if (data_home != nullptr && *data_home == '/') return std::filesystem::path(data_home) / "berth";
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".local/share/berth";
}

base::Result<void> make_data_dir(const std::filesystem::path& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    errno = error.value();
    return installation_error(dir, "cannot make the data directory");
  }
  if (::chmod(dir.c_str(), 0700) != 0) {
    return installation_error(dir, "cannot protect the data directory");
  }
  return {};
}

base::Result<void> write_private_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path next = path;
  next += ".new";
  TRY_VOID(write_private(next, text));
  if (::rename(next.c_str(), path.c_str()) != 0) return installation_error(path, "cannot replace");
  return {};
}

std::string random_name(size_t length) {
  return random_text(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

namespace {

base::Result<void> check_stays(const std::filesystem::path& dir, std::string_view what,
                               const std::string& stored,
                               const std::optional<std::string>& wanted) {
  if (!wanted || *wanted == stored) return {};
  return base::fail(
      "InvalidParameterException",
      base::format("What {} holds is of {} {}, and its ARNs say so: it cannot become {}. Leave "
                   "--{} out, or name another directory with --data.",
                   dir.string(), what, stored, *wanted, what));
}

}  // namespace

std::filesystem::path credentials_path(const std::filesystem::path& dir) {
  return dir / "credentials.json";
}

base::Result<Credentials> read_credentials(const std::filesystem::path& dir) {
  const std::filesystem::path path = credentials_path(dir);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) {
      return base::fail("NotFound", base::format("There is no server's data in {}. Start one with "
                                                 "`berth up`, or name its directory with --data.",
                                                 dir.string()));
    }
    return installation_error(path, "cannot read");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto credentials = api::parse<Credentials>(text);
  if (!credentials) {
    return base::fail("Corrupt", base::format("{} cannot be read: {}. Restore it from a backup; "
                                              "removing it makes a new access key.",
                                              path.string(), credentials.error().message));
  }
  return std::move(*credentials);
}

base::Result<void> write_credentials(const std::filesystem::path& dir,
                                     const Credentials& credentials) {
  return write_private_file(credentials_path(dir), api::print(credentials) + "\n");
}

base::Result<Credentials> ensure_credentials(const std::filesystem::path& dir,
                                             const std::optional<std::string>& region,
                                             const std::optional<std::string>& account) {
  auto stored = read_credentials(dir);
  if (!stored && stored.error().code != "NotFound") return stored;
  if (stored) {
    TRY_VOID(check_stays(dir, "region", stored->region, region));
    TRY_VOID(check_stays(dir, "account", stored->account, account));
    return stored;
  }
  Credentials made;
  if (region) made.region = *region;
  if (account) made.account = *account;
  made.access_key_id = "BERTH" + random_text(15, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
  made.secret_access_key =
      random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-");
  return made;
}

base::Result<std::string> ensure_key_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno != ENOENT) return installation_error(path, "cannot read");
  if (file) {
    std::string digits((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    while (digits.ends_with('\n')) digits.pop_back();
    auto key = crypto::from_hex(digits);
    if (key && key->size() == key_file_bytes) return std::move(*key);
    return base::fail("Corrupt",
                      base::format("{} does not hold a key of {} bytes in hexadecimal digits. "
                                   "Restore it from a backup: what was sealed with it opens with "
                                   "no other.",
                                   path.string(), key_file_bytes));
  }
  std::string key = crypto::random_bytes(key_file_bytes);
  TRY_VOID(write_private_file(path, crypto::to_hex(key) + "\n"));
  return key;
}

auth::AccessKey access_key(const Credentials& credentials) {
  return {.access_key_id = credentials.access_key_id,
          .secret_access_key = credentials.secret_access_key,
          .session_token = {},
          .account = credentials.account,
          .arn = base::format("arn:aws:iam::{}:root", credentials.account),
          .user_id = credentials.account};
}

}  // namespace cli
