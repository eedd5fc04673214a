internal import DavitHTTP

/// The format of access log lines. All formats escape control characters, and all but JSON escape non-ASCII
/// bytes, so that a client cannot forge a line or disturb a terminal.
public enum AccessFormat: String, CaseIterable, Sendable {
    /// `192.0.2.7 anna "PUT /a%20b HTTP/1.1" 201 0 bytes 1.250 ms`, followed by ` cut short` if the response
    /// was truncated, and by ` request 0123456789abcdef` if the ID of the request was used.
    case davit
    /// The Common Log Format: `192.0.2.7 - anna [21/Nov/2026:17:53:08 +0000] "GET /a HTTP/1.1" 200 17`.
    case common
    /// The Common Log Format followed by `"REFERER" "USER-AGENT"`.
    case combined
    /// One JSON object per line (RFC 8259), in UTF-8. Invalid UTF-8 is replaced by U+FFFD.
    case json

    /// Appends the log line for `record`, without a line terminator.
    public func append(_ record: AccessRecord, to line: inout [UInt8]) {
        switch self {
        case .davit: Self.appendOwn(record, to: &line)
        case .common: Self.appendCommon(record, to: &line)
        case .combined:
            Self.appendCommon(record, to: &line)
            for name in [FieldName.referer, .userAgent] {
                line.append(" \"")
                let isThere: Void? = record.request?.withValue(of: name) { line.appendQuotable($0) }
                line.append(isThere == nil ? "-\"" : "\"")
            }
        case .json: Self.appendJSON(record, to: &line)
        }
    }

    private static func appendOwn(_ record: AccessRecord, to line: inout [UInt8]) {
        line.appendWord(record.peer)
        line.append(UInt8(ascii: " "))
        line.appendWord(record.principal ?? "")
        line.append(UInt8(ascii: " "))
        appendRequestLine(record, to: &line)
        line.append(UInt8(ascii: " "))
        appendStatus(record, to: &line)
        line.append(UInt8(ascii: " "))
        line.appendDecimal(record.bytesSent)
        line.append(" bytes ")
        line.appendMilliseconds(record.duration)
        line.append(" ms")
        if !record.isComplete { line.append(" cut short") }
        if let number = record.requestID {
            line.append(" request ")
            line.appendWord(number)
        }
    }

    private static func appendCommon(_ record: AccessRecord, to line: inout [UInt8]) {
        line.appendWord(record.peer)
        line.append(" - ")
        line.appendWord(record.principal ?? "")
        line.append(" [")
        HTTPDate.appendLogTime(record.time, to: &line)
        line.append("] ")
        appendRequestLine(record, to: &line)
        line.append(UInt8(ascii: " "))
        appendStatus(record, to: &line)
        line.append(UInt8(ascii: " "))
        line.appendDecimal(record.bytesSent)
    }

    /// Appends `"GET /a?b HTTP/1.1"`, or `"-"` if the request head could not be parsed.
    private static func appendRequestLine(_ record: AccessRecord, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        if let request = record.request {
            appendMethod(request.method, to: &line)
            line.append(UInt8(ascii: " "))
            appendTarget(request.target, to: &line)
            line.append(" HTTP/1.")
            line.appendDecimal(Int64(request.minorVersion))
        } else {
            line.append(UInt8(ascii: "-"))
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func appendMethod(_ method: HTTPMethod, to line: inout [UInt8]) {
        if case .other(let token) = method { return line.appendWord(token) }
        for (name, known) in HTTPMethod.named where known == method { return line.append(name) }
    }

    private static func appendTarget(_ target: RequestTarget, to line: inout [UInt8]) {
        if target.form == .asterisk { return line.append(UInt8(ascii: "*")) }
        line.appendQuotable(target.rawPath.span)
        guard let query = target.rawQuery else { return }
        line.append(UInt8(ascii: "?"))
        line.appendQuotable(query.span)
    }

    private static func appendStatus(_ record: AccessRecord, to line: inout [UInt8]) {
        if let status = record.status {
            line.appendDecimal(Int64(status.code))
        } else {
            line.append(UInt8(ascii: "-"))
        }
    }

    private static func appendJSON(_ record: AccessRecord, to line: inout [UInt8]) {
        line.append(#"{"time":""#)
        HTTPDate.appendISO8601WithMilliseconds(record.time, to: &line)
        line.append(#"","peer":"#)
        line.appendJSON(record.peer)
        if let principal = record.principal {
            line.append(#","user":"#)
            line.appendJSON(principal)
        }
        if let request = record.request { appendJSON(request, to: &line) }
        line.append(#","status":"#)
        if let status = record.status {
            line.appendDecimal(Int64(status.code))
        } else {
            line.append("null")
        }
        line.append(#","bytes_received":"#)
        line.appendDecimal(record.bytesReceived)
        line.append(#","bytes_sent":"#)
        line.appendDecimal(record.bytesSent)
        line.append(#","duration_ms":"#)
        line.appendMilliseconds(record.duration)
        line.append(record.isComplete ? #","complete":true"# : #","complete":false"#)
        if let number = record.requestID {
            line.append(#","request":"#)
            line.appendJSON(number)
        }
        line.append(UInt8(ascii: "}"))
    }

    private static func appendJSON(_ request: HTTPRequest, to line: inout [UInt8]) {
        line.append(#","method":""#)
        appendMethod(request.method, to: &line)
        line.append(#"","target":"#)
        let target = request.target
        if target.form == .asterisk {
            line.append(#""*""#)
        } else {
            line.appendJSON(target.rawPath.span)
        }
        if let query = target.rawQuery {
            line.append(#","query":"#)
            line.appendJSON(query.span)
        }
        line.append(#","version":"1."#)
        line.appendDecimal(Int64(request.minorVersion))
        line.append(request.isSecure ? #"","tls":true"# : #"","tls":false"#)
        for (name, key) in [
            (FieldName.host, #","host":"#), (.referer, #","referer":"#), (.userAgent, #","user_agent":"#),
        ]
            as [(FieldName, StaticString)]
        {
            request.withValue(of: name) { value in
                line.append(key)
                line.appendJSON(value)
            }
        }
    }
}
