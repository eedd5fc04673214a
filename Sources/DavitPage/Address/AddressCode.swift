internal import DavitEngine
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

/// A QR code of the address of a collection as the visitor's browser shows it, without credentials.
enum AddressCode {
    static func response(to visit: PageContext) -> HTTPResponse {
        guard QRCodeLibrary.isAvailable else {
            return .error(.notImplemented, "This server has no support for QR codes.", for: visit.request)
        }
        guard let address = address(of: visit) else {
            return .error(.badRequest, "The request has no host.", for: visit.request)
        }
        guard let code = QRCode(encoding: address) else {
            return .error(.uriTooLong, "The address is too long for a QR code.", for: visit.request)
        }
        var response = HTTPResponse.bytes(Array(code.svg().utf8), type: "image/svg+xml")
        response.fields.append(.cacheControl, "no-store")
        response.fields.append(.xContentTypeOptions, "nosniff")
        response.fields.append(.contentSecurityPolicy, "default-src 'none'; sandbox")
        return response
    }

    /// Whether the request uses a loopback address, which other devices cannot reach: 127.0.0.0/8, ::1,
    /// `localhost` and the names below it (RFC 6761 §6.3).
    static func isLoopback(_ visit: PageContext) -> Bool {
        guard let host = visit.request.host else { return false }
        let name = String(decoding: host.host, as: UTF8.self)
        return switch host.kind {
        case .ipv4: name.hasPrefix("127.")
        case .ipv6: name == "[::1]"
        case .name: name == "localhost" || name.hasSuffix(".localhost")
        }
    }

    /// Returns the URL of the collection as the visitor's browser shows it, or nil if the request has no
    /// host.
    static func address(of visit: PageContext) -> [UInt8]? {
        guard let host = visit.request.host else { return nil }
        let isSecure = visit.isSecure
        var address = Array((isSecure ? "https://" : "http://").utf8) + host.host
        if let port = host.port, port != (isSecure ? 443 : 80) { address += Array(":\(port)".utf8) }
        return address + visit.href
    }
}
