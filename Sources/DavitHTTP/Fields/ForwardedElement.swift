/// The information that one proxy adds about the request it received: `forwarded-element` (RFC 7239 §4).
package struct ForwardedElement: Hashable, Sendable {
    /// The address of the node that sent the request to the proxy; nil if it is missing or not an IP address,
    /// such as `unknown` or an obfuscated identifier (§6.2, §6.3).
    package var client: IPAddress?
    /// The Host of that request; nil if missing or malformed.
    package var host: [UInt8]?
    /// Whether that request used https; nil if the scheme is missing, or neither http nor https.
    package var isSecure: Bool?

    /// Returns nil if the element is malformed or repeats a parameter.
    package init?(parsing bytes: borrowing Span<UInt8>) {
        // The syntax is that of media type parameters, except that there is no leading semicolon.
        var text: [UInt8] = [UInt8(ascii: ";")]
        text.append(copying: bytes)
        guard let parameters = FieldParameters(parsing: text.span, from: 0), !parameters.all.isEmpty else {
            return nil
        }
        var names = Set<String>()
        for parameter in parameters.all {
            guard names.insert(parameter.name).inserted else { return nil }
            switch parameter.name {
            case "for": client = IPAddress(node: parameter.value.span)
            case "host": if HostField.Parts(parsing: parameter.value.span) != nil { host = parameter.value }
            case "proto": isSecure = Self.isSecure(scheme: parameter.value.span)
            default: break
            }
        }
    }

    /// Returns true for https, false for http, nil for other schemes.
    package static func isSecure(scheme: borrowing Span<UInt8>) -> Bool? {
        if scheme.equalsIgnoringCase("https") { return true }
        return scheme.equalsIgnoringCase("http") ? false : nil
    }
}
