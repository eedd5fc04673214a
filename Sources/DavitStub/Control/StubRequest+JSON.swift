internal import DavitHTTP
internal import DavitSQLite

extension StubRequest {
    /// The request in JSON, as in the API.
    /// - Parameter isComplete: whether to include the contents.
    func json(isComplete: Bool) -> JSONValue {
        var time: [UInt8] = []
        HTTPDate.appendISO8601WithMilliseconds(Timestamp(nanoseconds: self.time), to: &time)
        var members: [JSONMember] = [
            .init("number", .integer(Int64(clamping: number))),
            .init("time", .string(String(decoding: time, as: UTF8.self))),
            .init("method", .string(method.rawValue)), .init("target", .string(target)),
            .init("fields", Self.json(fields)), .init("contentLength", .integer(contentLength)),
            .init("isForwarded", .bool(isForwarded)), .init("rule", rule.map { .string($0) } ?? .null),
            .init("status", status.map { .integer(Int64($0.code)) } ?? .null),
            .init("misses", .array(misses.map { ["rule": .string($0.rule), "reason": .string($0.reason)] })),
            .init("problems", .array(problems.map(\.json))),
            .init("isTruncated", .bool(!isContentComplete)),
            .init("milliseconds", .number(Double(duration / 1000) / 1000)),
            .init("responseFields", Self.json(responseFields)),
        ]
        if isComplete {
            members.append(.init("content", Self.json(content)))
            members.append(.init("response", Self.json(response)))
        }
        return .object(members)
    }

    private static func json(_ fields: [StubReply.Field]) -> JSONValue {
        .array(fields.map { [.string($0.name), .string($0.value)] })
    }

    /// Content as text if it is UTF-8, else in Base64.
    static func json(_ content: [UInt8]) -> JSONValue {
        if let text = String(validating: content, as: UTF8.self) { return ["text": .string(text)] }
        return ["base64": .string(Base64.encode(content))]
    }
}

extension StubRequest.Problem {
    var json: JSONValue {
        var members: [JSONMember] = [
            .init("subject", .string(subject)), .init("problem", .string(problem)),
        ]
        if let value { members.append(.init("value", .string(value))) }
        return .object(members)
    }
}

extension StubState {
    /// The state in JSON, as in the API. Blocks.
    func json() throws(StubError) -> JSONValue {
        func object<T>(_ values: [String: T], _ json: (T) -> JSONValue) -> JSONValue {
            .object(values.sorted { $0.key < $1.key }.map { .init($0.key, json($0.value)) })
        }
        func time(_ seconds: Int64) -> JSONValue {
            .string(String(decoding: HTTPDate.iso8601(Timestamp(seconds: seconds)), as: UTF8.self))
        }
        return [
            "scenarios": object(scenarios) { .string($0) },
            "sessions": .array(
                sessions.map {
                    [
                        "token": .string($0.token), "rule": .string($0.rule), "start": time($0.start),
                        "expiry": time($0.expiry),
                    ]
                }),
            "counters": object(counters) { .integer($0) },
            "collections": object(try database.itemCounts()) { .integer($0) },
            "seed": .integer(Int64(clamping: seed)),
        ]
    }
}
