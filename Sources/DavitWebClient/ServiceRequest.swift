/// A request to another service.
package struct ServiceRequest: Hashable, Sendable {
    /// GET, HEAD or POST. A request with content is always POST.
    package var isHead = false
    package var url: String
    /// Another method, such as PUT; nil for those above.
    package var method: String?
    /// The content of a POST request, or of one with another method; nil for GET and HEAD.
    package var content: [UInt8]?
    /// How the request is signed; nil if it is not.
    package var signature: ServiceSignature?
    /// Further fields, such as `Accept: application/json`. They must not contain line ends.
    package var fields: [String] = []
    /// Maximum length of the content of the response.
    package var limitBytes: Int
    /// The length that the content of the response probably has, for which memory is reserved.
    package var expectedBytes = 0

    package init(url: String, limitBytes: Int) {
        self.url = url
        self.limitBytes = limitBytes
    }
}

/// The keys of a signature with which S3 authenticates requests (AWS Signature Version 4).
package struct ServiceSignature: Hashable, Sendable {
    package var region: String
    /// Must not contain a colon.
    package var accessKey: String
    package var secretKey: String

    package init(region: String, accessKey: String, secretKey: String) {
        self.region = region
        self.accessKey = accessKey
        self.secretKey = secretKey
    }
}

/// The response of another service.
package struct ServiceResponse: Hashable, Sendable {
    package var status: Int
    /// The values of the fields in ``namesOfFields``, by name in lower case; if a field occurs more than once, the first value.
    package var fields: [String: String]
    package var bytes: [UInt8]

    package init(status: Int, fields: [String: String] = [:], bytes: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.bytes = bytes
    }

    /// The fields that are kept.
    static let namesOfFields: Set<String> = ["location", "replay-nonce", "retry-after"]
    /// Maximum length of a field that is kept; longer ones are ignored.
    private static let limitBytes = 4096

    /// Reads a line of the head: an interim or final status line, which begins a new head, or a field.
    mutating func read(line: [UInt8]) {
        if line.starts(with: "HTTP/".utf8) {
            fields = [:]
            return
        }
        guard line.count <= Self.limitBytes, let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            return
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard Self.namesOfFields.contains(name), fields[name] == nil else { return }
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 || byte == 13 || byte == 10 }
        let value = line[(colon + 1)...].drop(while: isSpace)
        let end = value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? value.startIndex
        fields[name] = String(decoding: value[..<end], as: UTF8.self)
    }
}

/// The reason why a service has not responded. Texts are for the log.
package enum ServiceFailure: Error, Hashable, Sendable {
    case unavailable(String)
    /// The response is longer than permitted.
    case tooLong(url: String)
    /// The caller has ended the request.
    case cancelled
}
