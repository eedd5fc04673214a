#if TLS
internal import COpenSSL

extension CertificateGenerator {
    /// Whether a certificate can be created for this name.
    package static func isName(_ text: String) -> Bool { HostList.isName(text) }

    /// Whether a certificate can be created for this address.
    package static func isAddress(_ text: String) -> Bool { HostList.isAddress(text) }
}

/// The validated hosts of a certificate: they contain no characters with a special meaning in OpenSSL's text
/// form of extensions.
struct HostList {
    private let names: [String]
    private let addresses: [String]

    init(names: [String], addresses: [String]) throws(CertificateGenerator.Problem) {
        guard !names.isEmpty || !addresses.isEmpty else { throw .noHost }
        for name in names where !Self.isName(name) { throw .badName(name) }
        for address in addresses where !Self.isAddress(address) { throw .badAddress(address) }
        self.names = names.map { $0.lowercased() }
        self.addresses = addresses
    }

    /// The value of subjectAltName (RFC 5280 §4.2.1.6).
    var alternativeName: String {
        (names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }).joined(separator: ",")
    }

    /// The name that clients display; a common name has at most 64 characters (RFC 5280 appendix A.1).
    var commonName: String { (names + addresses).first { $0.utf8.count <= 64 } ?? "davit" }

    /// Whether the labels of `name` consist of letters, digits, hyphens (RFC 1123 §2.1), and underscores,
    /// which occur in Windows networks. `*` is only allowed as the entire first label, followed by at least
    /// two other labels, as clients require (RFC 6125 §7.2).
    static func isName(_ name: String) -> Bool {
        guard 1...253 ~= name.utf8.count else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for (index, label) in labels.enumerated() {
            if index == 0, label.elementsEqual("*".utf8) {
                guard labels.count >= 3 else { return false }
                continue
            }
            guard 1...63 ~= label.count, label.first != 45, label.last != 45 else { return false }
            guard label.allSatisfy(isNameCharacter) else { return false }
        }
        // A name whose last label is numeric is interpreted as an IPv4 address.
        return !(labels.last?.allSatisfy { $0 >= 48 && $0 <= 57 } ?? true)
    }

    private static func isNameCharacter(_ character: UInt8) -> Bool {
        switch character {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    static func isAddress(_ address: String) -> Bool {
        let isPlain = address.utf8.allSatisfy {
            switch $0 {
            case 48...57, 65...70, 97...102, UInt8(ascii: "."), UInt8(ascii: ":"): true
            default: false
            }
        }
        guard isPlain, let octets = unsafe a2i_IPADDRESS(address) else {
            ErrorQueue.clear()
            return false
        }
        unsafe ASN1_OCTET_STRING_free(octets)
        return true
    }
}
#endif
