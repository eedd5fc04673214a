#if TLS
internal import DavitCrypto
internal import DavitHTTP

/// The certificate of an authority in the forms that clients install. It contains no key.
struct AuthorityDownload: Sendable {
    /// The DER form.
    let certificate: [UInt8]
    /// A configuration profile of Apple's systems with the certificate: an XML property list without a signature.
    let profile: [UInt8]
    /// The name of the authority, in ASCII.
    let name: String
    /// The SHA-256 fingerprint: `AB:CD:…`.
    let fingerprint: String

    init(_ authority: Certificate) throws(CryptoError) {
        certificate = try authority.der()
        fingerprint = try authority.fingerprintText()
        let subject = try authority.subject()
        name = subject.hasPrefix("CN=") ? String(subject.dropFirst(3)) : subject
        profile = Self.profile(of: certificate, digest: try authority.fingerprint(), name: name)
    }

    /// The identifiers depend only on the certificate, so that a system replaces the profile instead of adding a second one.
    private static func profile(of certificate: [UInt8], digest: [UInt8], name: String) -> [UInt8] {
        let digits = String(decoding: HexText.encode(Array(digest.prefix(8))), as: UTF8.self)
        let identifier = "davit.authority.\(digits)"
        let name = escaped(name)
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            <key>PayloadType</key><string>Configuration</string>
            <key>PayloadVersion</key><integer>1</integer>
            <key>PayloadIdentifier</key><string>\(identifier)</string>
            <key>PayloadUUID</key><string>\(uuid(digest.prefix(16)))</string>
            <key>PayloadDisplayName</key><string>\(name)</string>
            <key>PayloadDescription</key><string>Lets this device trust the file server.</string>
            <key>PayloadContent</key>
            <array>
            <dict>
            <key>PayloadType</key><string>com.apple.security.root</string>
            <key>PayloadVersion</key><integer>1</integer>
            <key>PayloadIdentifier</key><string>\(identifier).certificate</string>
            <key>PayloadUUID</key><string>\(uuid(digest.suffix(16)))</string>
            <key>PayloadDisplayName</key><string>\(name)</string>
            <key>PayloadCertificateFileName</key><string>davit.crt</string>
            <key>PayloadContent</key><data>\(Base64.encode(certificate))</data>
            </dict>
            </array>
            </dict>
            </plist>

            """.utf8)
    }

    /// Returns a UUID with 122 of the given 128 bits (RFC 9562 §5.8).
    private static func uuid(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = Array(bytes)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(String(decoding: HexText.encode(bytes), as: UTF8.self).uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
        return result
    }
}
#endif
