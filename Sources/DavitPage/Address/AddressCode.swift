internal import DavitEngine
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

/// The address of a collection as a QR code: what the visitor's browser shows, without credentials.
enum AddressCode {
    static func response(to visit: CollectionVisit) -> HTTPResponse {
        guard QRCodeLibrary.isAvailable else {
            return .error(.notImplemented, "This server was built without QR codes.", for: visit.request)
        }
        guard let address = address(of: visit) else {
            return .error(.badRequest, "The request does not say which host it is for.", for: visit.request)
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

    /// - Returns: nil if the request names no host.
    static func address(of visit: CollectionVisit) -> [UInt8]? {
        guard let host = visit.request.host else { return nil }
        let isSecure = visit.isSecure
        var address = Array((isSecure ? "https://" : "http://").utf8) + host.host
        if let port = host.port, port != (isSecure ? 443 : 80) { address += Array(":\(port)".utf8) }
        return address + visit.href
    }
}
