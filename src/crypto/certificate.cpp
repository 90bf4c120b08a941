#include "crypto/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

#include "base/format.h"

namespace crypto {
namespace {

template <auto function>
struct Free {
  template <class T>
  void operator()(T* object) const {
    function(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;

std::unexpected<base::Error> invalid(std::string_view what) {
  return base::fail("InvalidCertificate", base::format("{} cannot be read as PEM.", what));
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  CHECK(key != nullptr);
  return key;
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

Certificate print(X509* certificate, EVP_PKEY* key) {
  Certificate printed;
  const Bio text(BIO_new(BIO_s_mem()));
  CHECK(text && PEM_write_bio_X509(text.get(), certificate) == 1);
  printed.certificate_pem = text_of(text);
  const Bio secret(BIO_new(BIO_s_mem()));
  CHECK(secret && PEM_write_bio_PKCS8PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr,
                                                nullptr) == 1);
  printed.private_key_pem = text_of(secret);
  return printed;
}

Bio reader(const std::string& text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CHECK(bio != nullptr);
  return bio;
}

void set_name(X509_NAME* name, const std::string& common_name) {
  CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(common_name.data()),
                                   static_cast<int>(common_name.size()), -1, 0) == 1);
}

void set_time(ASN1_TIME* field, base::Time time) {
  CHECK(ASN1_TIME_set(field,
                      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count()) !=
        nullptr);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  CHECK(extension != nullptr);
  CHECK(X509_add_ext(certificate, extension.get(), -1) == 1);
}

// All but the extensions and the signature.
X509Pointer begin(const std::string& common_name, EVP_PKEY* key, base::Time from,
                  base::Time until) {
  X509Pointer made(X509_new());
  CHECK(made && X509_set_version(made.get(), X509_VERSION_3) == 1);
  const Number serial(BN_new());
  CHECK(serial && BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1);
  CHECK(BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made.get())) != nullptr);
  set_time(X509_getm_notBefore(made.get()), from);
  set_time(X509_getm_notAfter(made.get()), until);
  set_name(X509_get_subject_name(made.get()), common_name);
  CHECK(X509_set_pubkey(made.get(), key) == 1);
  return made;
}

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ",";
    text += (is_address(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

}  // namespace

Certificate make_authority(const std::string& name, base::Time from, base::Time until) {
  const Key key = make_key();
  const X509Pointer made = begin(name, key.get(), from, until);
  CHECK(X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1);
  add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  CHECK(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  return print(made.get(), key.get());
}

base::Result<Certificate> make_server_certificate(const Certificate& authority,
                                                  const std::vector<std::string>& names,
                                                  base::Time from, base::Time until) {
  CHECK(!names.empty());
  const X509Pointer issuer(
      PEM_read_bio_X509(reader(authority.certificate_pem).get(), nullptr, nullptr, nullptr));
  if (issuer == nullptr) return invalid("The authority's certificate");
  const Key issuer_key(
      PEM_read_bio_PrivateKey(reader(authority.private_key_pem).get(), nullptr, nullptr, nullptr));
  if (issuer_key == nullptr) return invalid("The authority's key");
  const Key key = make_key();
  const X509Pointer made = begin(names.front().substr(0, 64), key.get(), from, until);
  CHECK(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) == 1);
  add_extension(made.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), issuer.get(), NID_ext_key_usage, "serverAuth");
  add_extension(made.get(), issuer.get(), NID_subject_key_identifier, "hash");
  add_extension(made.get(), issuer.get(), NID_authority_key_identifier, "keyid");
  add_extension(made.get(), issuer.get(), NID_subject_alt_name, alternative_names(names));
  CHECK(X509_sign(made.get(), issuer_key.get(), EVP_sha256()) > 0);
  return print(made.get(), key.get());
}

base::Result<CertificateFacts> read_certificate(const std::string& pem) {
  const X509Pointer certificate(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return invalid("The certificate");
  CertificateFacts facts;
  std::tm time{};
  CHECK(ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &time) == 1);
  facts.until = base::Time(std::chrono::seconds(timegm(&time)));
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      facts.names.emplace_back(
          reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
          static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      facts.names.push_back(address_text(name->d.iPAddress));
    }
  }
  return facts;
}

}  // namespace crypto
