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

// The certificate of a server that goes on for longer than it is good: what server_tls() says later
// on, when it has made a new one or the operator has replaced the files.
class TlsRenewal {
 public:
  TlsRenewal(TlsCommand command, std::filesystem::path dir, std::vector<std::string> names,
             net::TlsServerOptions served)
      : command_(std::move(command)),
        dir_(std::move(dir)),
        names_(std::move(names)),
        served_(std::move(served)) {}

  // What is to be served from now on; nullopt: what is served already. Each is told of once.
  // Errors: as of server_tls; each is told of once, too.
  base::Result<std::optional<net::TlsServerOptions>> look(base::Time now);

 private:
  TlsCommand command_;
  std::filesystem::path dir_;
  std::vector<std::string> names_;
  net::TlsServerOptions served_;
  std::string told_;  // The last error.
};

}  // namespace cli
