/// What one proxy says about the request that it received: `forwarded-element` (RFC 7239 §4).
package struct ForwardedElement: Hashable, Sendable {
    /// The node that sent the request to the proxy; nil if there is none, or if it has no address to tell
    /// (`unknown`, or a name of its own, §6.2 and §6.3).
    package var client: IPAddress?
    /// The Host of that request, if it is one.
    package var host: [UInt8]?
    /// Nil for schemes other than http and https.
    package var isSecure: Bool?

    /// Nil if the element is malformed, or has a parameter twice.
    package init?(parsing bytes: borrowing Span<UInt8>) {
        // Parameters as behind a media type, but for the first semicolon, and without spaces around them.
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

    /// True for https, false for http, nil for others.
    package static func isSecure(scheme: borrowing Span<UInt8>) -> Bool? {
        if scheme.equalsIgnoringCase("https") { return true }
        return scheme.equalsIgnoringCase("http") ? false : nil
    }
}
