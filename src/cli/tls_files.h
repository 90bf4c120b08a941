// The certificates of a data directory: the server's own authority, and the certificate that it
// vouches for; or the operator's own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/tls.h"

namespace cli {

struct TlsCommand {
  bool own_authority = false;      // --tls
  std::vector<std::string> names;  // --tls-name: more names that clients call the server by.
  std::string certificate_file;    // --tls-cert; with it no authority of one's own.
  std::string key_file;            // --tls-key
};

struct ServerTls {
  net::TlsServerOptions options;
  std::string authority_file;      // What clients must trust; empty: the system's authorities do.
  std::string authority_pem;       // Its text.
  std::vector<std::string> names;  // That the certificate is for.
};

// nullopt: without TLS. The authority is made once and kept; the server's certificate is made anew
// when `names` asks for one that it lacks, or when it expires within a month.
// Errors: "InvalidParameterException" for options that do not go together; "IoError";
// "InvalidCertificate".
base::Result<std::optional<ServerTls>> server_tls(const TlsCommand& command,
                                                  const std::filesystem::path& dir,
                                                  const std::vector<std::string>& names,
                                                  base::Time now);

}  // namespace cli
