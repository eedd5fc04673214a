internal import DavitHTTP
package import DavitRecording
internal import DavitSQLite

/// Rules made from recorded exchanges: one rule for all requests with the same method, target and other
/// properties that decide about the response, with the responses in the order in which they were recorded.
public struct StubImport: Sendable {
    /// The rules, the newest first.
    public private(set) var rules: [StubRule] = []
    /// Exchanges that were left out or changed, and why.
    public private(set) var remarks: [String] = []

    /// The position of the rule for each kind of request.
    private var positions: [Kind: Int] = [:]

    private struct Kind: Hashable {
        var method: String
        var target: String
        var fields: [StubReply.Field]
    }

    /// Fields of requests that decide about the response.
    private static let decidingFields = ["Depth", "Destination", "Range", "If-None-Match", "If-Match"]

    /// The maximum length of content that is stored in a rule, in bytes.
    static let contentBytes = 4 << 20

    public init() {}

    /// Adds the exchanges of a recording of `davit serve --record`.
    /// - Parameter file: its name, for remarks.
    package mutating func add(_ recording: Transcript, file: String) {
        let exchanges = recording.exchanges.sorted { $0.order < $1.order }
        for exchange in exchanges {
            let place = "\(file), line \(exchange.line)"
            guard let answer = exchange.answer, let status = exchange.statuses.first, exchange.gap == nil
            else {
                remarks.append("\(place): without a response; left out")
                continue
            }
            let content: [UInt8]
            switch answer.content {
            case .bytes(let bytes): content = bytes
            case .fill(let byte, let count):
                content = [UInt8](repeating: byte, count: min(count, Self.contentBytes))
            case .omitted(let count, _):
                remarks.append("\(place): the content of \(count) bytes was not recorded; zeros are sent")
                content = [UInt8](repeating: 0, count: Int(min(count, Int64(Self.contentBytes))))
            }
            add(
                exchange.method, exchange.target,
                exchange.fields.map { .init($0.name, $0.value) }, status,
                answer.fields.map { .init($0.name, $0.value) }, content, place)
        }
    }

    /// Adds the entries of an HTTP archive (HAR 1.2), as browsers and proxies save it. Values of fields that
    /// contain credentials are masked.
    /// - Parameter file: its name, for remarks.
    /// - Throws: ``StubError`` if the file is not an HTTP archive.
    public mutating func addHAR(_ bytes: [UInt8], file: String) throws(StubError) {
        guard let entries = JSONParser.parse(bytes)?["log"]?["entries"]?.elements else {
            throw .database(file, reason: "not an HTTP archive (HAR)")
        }
        for (index, entry) in entries.enumerated() {
            let place = "\(file), entry \(index + 1)"
            guard let request = entry["request"], let method = request["method"]?.text,
                let url = request["url"]?.text, let response = entry["response"],
                let status = response["status"]?.double, (100...599).contains(status),
                let target = Self.target(of: url)
            else {
                remarks.append("\(place): without a usable request and response; left out")
                continue
            }
            let body = response["content"]
            var content = Array((body?["text"]?.text ?? "").utf8)
            if body?["encoding"]?.text == "base64" {
                guard let decoded = Base64.decode(content.span) else {
                    remarks.append("\(place): the content is not Base64; left out")
                    continue
                }
                content = decoded
            }
            // The content in the archive is decoded.
            let fields = Self.fields(response["headers"]).filter {
                $0.name.lowercased() != "content-encoding"
            }
            add(method, target, Self.fields(request["headers"]), Int(status), fields, content, place)
        }
    }

    private static func fields(_ value: JSONValue?) -> [StubReply.Field] {
        (value?.elements ?? []).compactMap { element in
            guard let name = element["name"]?.text, let text = element["value"]?.text, !name.hasPrefix(":")
            else {
                return nil
            }
            return .init(name, text)
        }
    }

    /// Returns the path and the query of a URL.
    static func target(of url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return "/" }
        return String(rest[slash...].prefix { $0 != "#" })
    }

    private mutating func add(
        _ method: String, _ target: String, _ fields: [StubReply.Field], _ status: Int,
        _ responseFields: [StubReply.Field], _ content: [UInt8], _ place: String
    ) {
        let target = ServerAddress(parsing: target) == nil ? target : Self.target(of: target) ?? target
        guard status >= 200, let parsed = Self.parsed(target) else {
            remarks.append("\(place): not a response to a path; left out")
            return
        }
        let deciding = Self.decidingFields.compactMap { name in
            fields.first { $0.name.lowercased() == name.lowercased() }.map {
                StubReply.Field(
                    name, name == "Destination" ? Self.target(of: $0.value) ?? $0.value : $0.value)
            }
        }
        var reply = StubReply(HTTPStatus(UInt16(status)))
        reply.fields = responseFields.filter { !RuleMaker.omittedFields.contains($0.name.lowercased()) }.map {
            StubReply.Field($0.name, Self.masked($0))
        }
        if content.count > Self.contentBytes {
            remarks.append("\(place): the content is longer than \(Self.contentBytes) bytes and was cut")
        }
        let kept = content.count > Self.contentBytes ? Array(content[..<Self.contentBytes]) : content
        if !kept.isEmpty {
            let text = String(validating: kept, as: UTF8.self)
            reply.content = text.map { .text($0) } ?? .bytes(kept)
        }
        let kind = Kind(method: method, target: target, fields: deciding)
        if let position = positions[kind] {
            rules[position].replies.append(reply)
            return
        }
        var rule = RuleMaker.rule(method, path: parsed.path, query: parsed.query, among: [])
        for field in deciding {
            let test = field.name == "Destination" ? "endsWith" : "is"
            rule.conditions.append(
                .object([
                    .init("field", .string(field.name)), .init(test, .string(field.value)),
                ]))
        }
        // Requests of the same kind are answered as recorded, and then always as the last one.
        rule.choice = .sequence
        rule.replies = [reply]
        rule.name = "\(String(rule.name.prefix(80))) #\(rules.count + 1)"
        positions[kind] = rules.count
        rules.append(rule)
    }

    private static func parsed(_ target: String) -> (path: String, query: String?)? {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let parsed = try? ResourcePath.parse(rawPath: Array(parts[0].utf8)) else { return nil }
        let path = parsed.path.description + (parsed.endsInSlash && !parsed.path.isRoot ? "/" : "")
        return (path, parts.count > 1 ? parts[1] : nil)
    }

    /// Masks the value of a field that contains credentials; recordings of davit are masked already.
    private static func masked(_ field: StubReply.Field) -> String {
        CredentialMask.applied(to: WireField(name: field.name, value: field.value)).value
    }
}
