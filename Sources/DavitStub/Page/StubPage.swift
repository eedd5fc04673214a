internal import CStubPage
internal import DavitHTTP
internal import DavitServer

/// The control page of a stub server, whose files are part of the binary.
enum StubPage {
    private static let files: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        for index in 0..<davit_stub_file_count() {
            let file = unsafe davit_stub_file_at(index)
            unsafe files[String(cString: file.name)] = Array(
                UnsafeBufferPointer(start: file.bytes, count: file.count))
        }
        return files
    }()

    /// Returns a file of the page; nil if there is none with this name.
    static func response(_ name: String) -> HTTPResponse? {
        guard let bytes = files[name] else { return nil }
        let type: StaticString =
            name.hasSuffix(".html") ? "text/html; charset=utf-8" : MediaType.forName(Array(name.utf8))
        var fields = HTTPFields()
        fields.append(.contentType, type)
        // The files change with the program, which the URLs do not name.
        fields.append(.cacheControl, "no-cache")
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(named: "Referrer-Policy", "no-referrer")
        fields.append(
            .contentSecurityPolicy,
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """)
        return HTTPResponse(status: .ok, fields: fields, body: .bytes(bytes))
    }
}
