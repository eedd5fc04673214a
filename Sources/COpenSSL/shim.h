#ifndef DAVIT_COPENSSL_SHIM_H
#define DAVIT_COPENSSL_SHIM_H
#ifdef __linux__
// The types of the C library belong to its module; see CLinux.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pemerr.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Wrappers of macros and variadic functions, which Swift cannot import. */

static inline int davit_ctx_set_versions(SSL_CTX *context, int least, int most) {
    return SSL_CTX_set_min_proto_version(context, least) == 1 && SSL_CTX_set_max_proto_version(context, most) == 1;
}

/* Lets SSL_write return after each record, and lets the bytes move in memory before a retry. Idle connections release
   their buffers. The configured chain is sent unmodified and not completed from the trusted certificates. */
static inline void davit_ctx_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        | SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
}

/* Disables compression (CRIME) and renegotiation. The server's cipher order applies, except for clients that list
   ChaCha20 first because they lack AES in hardware. */
static inline void davit_ctx_set_server_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION
        | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}

/* Disables the session cache: sessions are stored only in the tickets that clients hold. */
static inline void davit_ctx_set_session_cache_off(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int davit_ctx_set_groups(SSL_CTX *context, const char *names) {
    return SSL_CTX_set1_groups_list(context, names) == 1;
}

static inline int davit_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline void davit_ctx_set_server_name_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
}

/* Sets the key of the MAC that authenticates a session ticket. */
static inline int davit_set_ticket_key(EVP_MAC_CTX *code, const unsigned char *key, size_t count) {
    OSSL_PARAM parameters[3];
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, count);
    parameters[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0);
    parameters[2] = OSSL_PARAM_construct_end();
    return EVP_MAC_CTX_set_params(code, parameters) == 1;
}

static inline EVP_PKEY *davit_make_p256_key(void) {
    return EVP_EC_gen("P-256");
}

/* Returns a public key of a type with these parameters, which are checked; null if there is none. */
static inline EVP_PKEY *davit_make_public_key(const char *type, OSSL_PARAM_BLD *builder) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL), *check = NULL;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1
        || !(check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL)) || EVP_PKEY_public_check(check) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(check);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

/* The numbers are big-endian. */
static inline EVP_PKEY *davit_make_rsa_public_key(
    const unsigned char *modulus, int modulus_count, const unsigned char *exponent, int exponent_count) {
    EVP_PKEY *key = NULL;
    BIGNUM *n = BN_bin2bn(modulus, modulus_count, NULL), *e = BN_bin2bn(exponent, exponent_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (n && e && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        key = davit_make_public_key("RSA", builder);
    OSSL_PARAM_BLD_free(builder);
    BN_free(e);
    BN_free(n);
    return key;
}

/* The point is uncompressed: a byte 4 and two coordinates. */
static inline EVP_PKEY *davit_make_p256_public_key(const unsigned char *point, size_t count) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1
        && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count) == 1)
        key = davit_make_public_key("EC", builder);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

/* Writes the two numbers of an ECDSA signature, big-endian in `count` bytes each. */
static inline int davit_split_signature(
    const unsigned char *encoded, size_t encoded_count, unsigned char *numbers, int count) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &encoded, (long)encoded_count);
    int done = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), numbers, count) == count
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), numbers + count, count) == count;
    ECDSA_SIG_free(signature);
    return done;
}

/* Adds subjectAltName to a certificate signing request; the value is in OpenSSL's text form. */
static inline int davit_add_alternative_names(X509_REQ *request, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, NULL, NULL, request, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, value);
    STACK_OF(X509_EXTENSION) *all = sk_X509_EXTENSION_new_null();
    int done = extension && all && sk_X509_EXTENSION_push(all, extension) > 0
        && X509_REQ_add_extensions(request, all) == 1;
    sk_X509_EXTENSION_free(all);
    X509_EXTENSION_free(extension);
    return done;
}

/* Continues a handshake with the certificate for a challenge (RFC 8737): without a client certificate, and without a session
   that could be resumed. */
static inline int davit_use_challenge(SSL *session, SSL_CTX *context) {
    SSL_set_verify(session, SSL_VERIFY_NONE, NULL);
    SSL_set_options(session, SSL_OP_NO_TICKET);
    return SSL_set_num_tickets(session, 0) == 1 && SSL_set_SSL_CTX(session, context) != NULL;
}

static inline int davit_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
}
#endif
