#ifndef DAVIT_CLDAP_SHIM_H
#define DAVIT_CLDAP_SHIM_H
#include <ldap.h>
#include <stddef.h>
#include <sys/time.h>

/* Wrappers of macros with casts and of untyped options, which Swift cannot import. All return an LDAP result code. */

/* Sets the version and the timeouts of a handle. Referrals are not followed: they would send the password elsewhere. */
static inline int davit_ldap_prepare(LDAP *handle, int seconds) {
    int version = LDAP_VERSION3;
    struct timeval timeout = {seconds, 0};
    int code = ldap_set_option(handle, LDAP_OPT_PROTOCOL_VERSION, &version);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_NETWORK_TIMEOUT, &timeout);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_TIMEOUT, &timeout);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_RESTART, LDAP_OPT_ON);
    return code == LDAP_OPT_SUCCESS ? LDAP_SUCCESS : LDAP_LOCAL_ERROR;
}

/* Requires a valid certificate, whatever the settings of the system say. */
static inline int davit_ldap_require_certificate(LDAP *handle, const char *authorities) {
    int demand = LDAP_OPT_X_TLS_DEMAND, least = LDAP_OPT_X_TLS_PROTOCOL_TLS1_2, isServer = 0;
    int code = ldap_set_option(handle, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_X_TLS_PROTOCOL_MIN, &least);
    if (code == LDAP_OPT_SUCCESS && authorities) code = ldap_set_option(handle, LDAP_OPT_X_TLS_CACERTFILE, authorities);
    if (code == LDAP_OPT_SUCCESS) code = ldap_set_option(handle, LDAP_OPT_X_TLS_NEWCTX, &isServer);
    return code == LDAP_OPT_SUCCESS ? LDAP_SUCCESS : LDAP_LOCAL_ERROR;
}

static inline int davit_ldap_bind(LDAP *handle, const char *name, const char *password, size_t length) {
    struct berval credentials = {length, (char *)password};
    return ldap_sasl_bind_s(handle, name, LDAP_SASL_SIMPLE, &credentials, NULL, NULL, NULL);
}

/* Searches an entry, or a subtree, for at most `limit` entries. */
static inline int davit_ldap_search(LDAP *handle, const char *base, int isSubtree, const char *filter,
    char **attributes, int seconds, int limit, LDAPMessage **result) {
    struct timeval timeout = {seconds, 0};
    return ldap_search_ext_s(handle, base, isSubtree ? LDAP_SCOPE_SUBTREE : LDAP_SCOPE_BASE, filter, attributes, 0,
        NULL, NULL, &timeout, limit, result);
}

static inline void davit_ldap_close(LDAP *handle) {
    ldap_unbind_ext_s(handle, NULL, NULL);
}
#endif
