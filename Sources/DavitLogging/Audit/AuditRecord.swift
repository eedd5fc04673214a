package import DavitAccess
internal import DavitHTTP

/// The JSON line of an event in the audit log.
package enum AuditRecord {
    /// The maximum length of a name or description that a client has sent, in bytes.
    private static let textLimit = 256

    /// Appends an event as a JSON object, without a line end.
    /// - Parameters:
    ///   - time: nanoseconds since 1970.
    ///   - suppressed: the number of events since the last record that were left out.
    ///   - memberBytes: the length from which further members of a collection are left out.
    package static func append(
        _ event: AuditEvent, time: Int64, suppressed: Int, memberBytes: Int, to line: inout [UInt8]
    ) {
        line.append(#"{"time":""#)
        line.appendTimestamp(nanoseconds: time)
        line.append(#"","op":""#)
        line.append(contentsOf: event.operation.rawValue.utf8)
        switch event.result {
        case .done: line.append(#"","result":"done""#)
        case .partial: line.append(#"","result":"partial""#)
        case .unknown: line.append(#"","result":"unknown""#)
        case .refused(let status):
            line.append(#"","result":"refused","status":"#)
            line.appendDecimal(Int64(status.code))
        }
        appendClient(of: event, to: &line)
        if let share = event.share { append(#","share":"#, share, to: &line) }
        if let path = event.path { append(#","path":"#, path, to: &line) }
        if let path = event.destination { append(#","to":"#, path, to: &line) }
        if let bytes = event.bytes {
            line.append(#","bytes":"#)
            line.appendDecimal(bytes)
        }
        if let digest = event.digest {
            line.append(#","digest":""#)
            line.append(digest.algorithm.key)
            line.append("=")
            for byte in digest.bytes {
                line.append(HexText.digit(byte >> 4))
                line.append(HexText.digit(byte & 15))
            }
            line.append("\"")
        }
        if let id = event.trashID { append(#","trash":"#, id, to: &line) }
        if let members = event.members { append(members, limit: line.count + memberBytes, to: &line) }
        if let detail = event.detail { append(#","detail":"#, detail, to: &line) }
        if suppressed > 0 {
            line.append(#","suppressed":"#)
            line.appendDecimal(Int64(suppressed))
        }
        line.append("}")
    }

    private static func appendClient(of event: AuditEvent, to line: inout [UInt8]) {
        if let request = event.request {
            if case .other(let token) = request.method {
                append(#","method":"#, limited(token), to: &line)
            } else {
                for (name, known) in HTTPMethod.named where known == request.method {
                    line.append(#","method":""#)
                    line.append(name)
                    line.append("\"")
                }
            }
        }
        if let name = event.principal ?? event.request?.principal {
            append(#","user":"#, limited(name), to: &line)
        }
        if let request = event.request, event.principal == nil {
            line.append(#","via":""#)
            line.append(contentsOf: request.identity.kind.rawValue.utf8)
            line.append("\"")
            if let id = request.credentialID { append(#","credential":"#, id, to: &line) }
        }
        if let address = event.request?.peerAddress ?? event.origin {
            append(#","from":"#, address, to: &line)
        }
    }

    private static func append(_ key: StaticString, _ text: String, to line: inout [UInt8]) {
        line.append(key)
        line.appendJSON(text)
    }

    private static func append(_ key: StaticString, _ path: ResourcePath, to line: inout [UInt8]) {
        line.append(key)
        line.appendJSON(absolute: path.bytes)
    }

    private static func append(_ members: AuditEvent.Members, limit: Int, to line: inout [UInt8]) {
        line.append(members.isComplete ? #","member_count":"# : #","member_count_at_least":"#)
        line.appendDecimal(Int64(members.count))
        line.append(#","members":["#)
        for (index, path) in members.paths.enumerated() {
            if line.count + path.bytes.count > limit { break }
            if index > 0 { line.append(",") }
            line.appendJSON(absolute: path.bytes)
        }
        line.append("]")
    }

    private static func limited(_ text: String) -> String {
        text.utf8.count <= textLimit ? text : String(decoding: text.utf8.prefix(textLimit), as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends a canonical path as a JSON string that begins with a slash.
    fileprivate mutating func appendJSON(absolute path: [UInt8]) {
        let quote = count
        appendJSON(path.span)
        // The path has no slash at the beginning; the string begins with a quotation mark.
        insert(UInt8(ascii: "/"), at: quote + 1)
    }
}
