#include "cli/tls_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "cli/installation.h"
#include "crypto/certificate.h"

namespace cli {
namespace {

constexpr auto day = std::chrono::hours(24);
constexpr auto skew = std::chrono::hours(1);  // Of the clients' clocks.
constexpr auto authority_life = day * 3650;
// Source: CA/Browser Forum, ballot SC22: clients refuse certificates that are good for longer.
constexpr auto server_life = day * 397;
constexpr auto renewed_before = day * 30;

base::Result<std::string> read_tls_file(const std::filesystem::path& path,
                                        std::string_view option) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!text.empty()) return text;
  return base::fail("IoError",
                    base::format("{} {} cannot be read or is empty.", option, path.string()));
}

base::Result<crypto::Certificate> ensure_authority(const std::filesystem::path& dir,
                                                   base::Time now) {
  const std::filesystem::path certificate = dir / "ca.pem";
  const std::filesystem::path key = dir / "ca.key";
  if (std::filesystem::exists(certificate) && std::filesystem::exists(key)) {
    return crypto::Certificate{TRY(read_tls_file(certificate, "The authority's certificate")),
                               TRY(read_tls_file(key, "The authority's key"))};
  }
  crypto::Certificate made = crypto::make_authority("Berth", now - skew, now + authority_life);
  TRY_VOID(write_private_file(key, made.private_key_pem));
  TRY_VOID(write_private_file(certificate, made.certificate_pem));
  base::log_info("made an authority of certificates of this server's own: {}",
                 certificate.string());
  return made;
}

// Whether the stored certificate does for a while, for all the names.
bool is_good(const std::string& pem, const std::vector<std::string>& names, base::Time now) {
  const auto facts = crypto::read_certificate(pem);
  if (!facts || facts->until < now + renewed_before) return false;
  return std::ranges::all_of(names, [&](const std::string& name) {
    return std::ranges::find(facts->names, name) != facts->names.end();
  });
}

base::Result<ServerTls> with_own_authority(const std::filesystem::path& dir,
                                           const std::vector<std::string>& names, base::Time now) {
  const crypto::Certificate authority = TRY(ensure_authority(dir, now));
  const std::filesystem::path certificate = dir / "server.pem";
  const std::filesystem::path key = dir / "server.key";
  ServerTls tls{.options = {},
                .authority_file = (dir / "ca.pem").string(),
                .authority_pem = authority.certificate_pem,
                .names = names};
  if (std::filesystem::exists(certificate) && std::filesystem::exists(key)) {
    tls.options.certificate_chain_pem = TRY(read_tls_file(certificate, "The server's certificate"));
    tls.options.private_key_pem = TRY(read_tls_file(key, "The server's key"));
    if (is_good(tls.options.certificate_chain_pem, names, now)) return tls;
  }
  crypto::Certificate made =
      TRY(crypto::make_server_certificate(authority, names, now - skew, now + server_life));
  TRY_VOID(write_private_file(key, made.private_key_pem));
  TRY_VOID(write_private_file(certificate, made.certificate_pem));
  tls.options = {std::move(made.certificate_pem), std::move(made.private_key_pem)};
  return tls;
}

}  // namespace

base::Result<std::optional<ServerTls>> server_tls(const TlsCommand& command,
                                                  const std::filesystem::path& dir,
                                                  const std::vector<std::string>& names,
                                                  base::Time now) {
  const bool given = !command.certificate_file.empty() || !command.key_file.empty();
  if (given && (command.certificate_file.empty() || command.key_file.empty())) {
    return base::fail("InvalidParameterException",
                      "--tls-cert and --tls-key go together: give both, or --tls alone for a "
                      "certificate of the server's own.");
  }
  if (given && command.own_authority) {
    return base::fail("InvalidParameterException",
                      "--tls makes a certificate and --tls-cert names one: leave one of the two "
                      "out.");
  }
  if (given) {
    ServerTls tls;
    tls.options.certificate_chain_pem = TRY(read_tls_file(command.certificate_file, "--tls-cert"));
    tls.options.private_key_pem = TRY(read_tls_file(command.key_file, "--tls-key"));
    tls.names = TRY(crypto::read_certificate(tls.options.certificate_chain_pem)).names;
    return std::optional(std::move(tls));
  }
  if (!command.own_authority) return std::optional<ServerTls>();
  return std::optional(TRY(with_own_authority(dir, names, now)));
}

base::Result<std::optional<net::TlsServerOptions>> TlsRenewal::look(base::Time now) {
  auto tls = server_tls(command_, dir_, names_, now);
  if (!tls) {
    if (std::exchange(told_, tls.error().message) == tls.error().message) return std::nullopt;
    return base::fail(std::move(tls).error());
  }
  told_.clear();
  CHECK(tls->has_value());
  net::TlsServerOptions& found = (*tls)->options;
  if (found.certificate_chain_pem == served_.certificate_chain_pem &&
      found.private_key_pem == served_.private_key_pem) {
    return std::nullopt;
  }
  served_ = found;
  return std::optional(std::move(found));
}

}  // namespace cli
