#if TLS
internal import COpenSSL
package import DavitHTTP

extension Certificate {
    /// The remaining validity at which a certificate is replaced: 30 days.
    package static let renewalSeconds: Int64 = 30 * 86_400

    /// Whether the certificate expires within ``renewalSeconds`` or has expired. Ignores the start of the
    /// validity period, because a new certificate would not help if that is in the future.
    package func needsRenewal(now: Timestamp) throws(CryptoError) -> Bool {
        now >= (try validity()).upperBound.adding(seconds: -Self.renewalSeconds)
    }

    /// Whether the certificate is valid for a host: an IP address, or a DNS name (RFC 6125 §6.4). Only names
    /// in subjectAltName count; a wildcard matches one whole label.
    package func covers(_ host: String, wildcards: Bool = true) -> Bool {
        defer { ErrorQueue.clear() }
        // OpenSSL ends the text at a zero byte, and interprets a name with a leading dot as "any subdomain".
        guard !host.isEmpty, !host.utf8.contains(0), !host.hasPrefix(".") else { return false }
        switch unsafe X509_check_ip_asc(handle, host, 0) {
        case 1: return true
        case -2: break  // not an address
        default: return false
        }
        var flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
        if !wildcards { flags |= UInt32(X509_CHECK_FLAG_NO_WILDCARDS) }
        return unsafe X509_check_host(handle, host, host.utf8.count, flags, nil) == 1
    }

    /// Whether `authority` has signed this certificate. Does not check the validity periods.
    package func isSigned(by authority: Certificate) -> Bool {
        defer { ErrorQueue.clear() }
        guard unsafe X509_check_issued(authority.handle, handle) == X509_V_OK else { return false }
        return unsafe X509_verify(handle, X509_get0_pubkey(authority.handle)) == 1
    }
}
#endif
