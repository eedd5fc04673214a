/// How the content of a response is delimited (RFC 9112 §6.3).
package enum ResponseFraming: Hashable, Sendable {
    /// No content follows the head.
    case none
    /// Content of this many bytes, possibly 0.
    case length(Int64)
    case chunked
    /// Content ends when the connection closes; for HTTP/1.0 and unknown length.
    case untilClose
}

/// Encodes response heads.
package enum HeadEncoder {
    /// The properties of the request that affect the response head.
    package struct Context: Hashable, Sendable {
        package var isHead: Bool
        package var minorVersion: UInt8
        /// Whether the client keeps the connection open after the response.
        package var keepsAlive: Bool

        package init(isHead: Bool, minorVersion: UInt8, keepsAlive: Bool) {
            self.isHead = isHead
            self.minorVersion = minorVersion
            self.keepsAlive = keepsAlive
        }

        package init(_ request: borrowing HTTPRequest) {
            self.init(
                isHead: request.method == .head, minorVersion: request.minorVersion,
                keepsAlive: request.keepsAlive)
        }
    }

    /// The interim response to `Expect: 100-continue`.
    package static let continueHead: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    /// Returns a complete interim response, without fields for framing and connection.
    package static func interim(_ status: HTTPStatus, _ fields: HTTPFields) -> [UInt8] {
        var head: [UInt8] = []
        appendStatusLine(status, to: &head)
        appendFields(fields, keepingLength: false, to: &head)
        head.write("\r\n")
        return head
    }

    /// Appends a complete head with the length of `response.body`; see
    /// ``encode(_:length:for:date:server:into:)`` for the other parameters and the result.
    package static func encode(
        _ response: HTTPResponse, for exchange: Context, date: [UInt8], server: [UInt8]? = nil,
        into buffer: inout [UInt8]
    ) -> ResponseFraming {
        encode(
            response, length: response.body.length, for: exchange, date: date, server: server, into: &buffer)
    }

    /// Appends a complete head.
    ///
    /// The connection stays open if `exchange.keepsAlive` is true, `response.closesConnection` is false, and
    /// the result is not ``ResponseFraming/untilClose``; see ``isPersistent(_:_:framing:)``.
    ///
    /// - Parameters:
    ///   - length: the length of the content in bytes, or nil if unknown; for 304 and HEAD, the length
    ///     of the omitted content.
    ///   - date: a date of 29 bytes, as formatted by ``HTTPDate/appendIMF(_:to:)``.
    ///   - server: the value of the Server field; nil to omit the field.
    package static func encode(
        _ response: HTTPResponse, length: Int64?, for exchange: Context, date: [UInt8],
        server: [UInt8]? = nil, into buffer: inout [UInt8]
    ) -> ResponseFraming {
        write(response, length: length, for: exchange, date: date, server: server, to: &buffer)
    }

    /// Like ``encode(_:length:for:date:server:into:)``, but writes directly into the buffer from which the
    /// head is sent.
    /// - Returns: nil, without appending anything, if the buffer does not have enough space.
    package static func encode(
        _ response: HTTPResponse, length: Int64?, for exchange: Context, date: [UInt8],
        server: [UInt8]?, into buffer: IOBuffer
    ) -> ResponseFraming? {
        let room = fixedBytes + response.fields.encoded.count + (server?.count ?? 0)
        guard buffer.freeCount >= room else { return nil }
        var sink = buffer
        return write(response, length: length, for: exchange, date: date, server: server, to: &sink)
    }

    /// Upper bound for the length of a head without its fields and server name: status line, field names and
    /// date.
    private static let fixedBytes = 512

    private static func write(
        _ response: HTTPResponse, length: Int64?, for exchange: Context, date: [UInt8],
        server: [UInt8]?, to buffer: inout some HeadSink
    ) -> ResponseFraming {
        let fields = response.fields
        appendStatusLine(response.status, to: &buffer)
        if !fields.contains(.date) {
            buffer.write("Date: ")
            buffer.write(date)
            buffer.write("\r\n")
        }
        if let server, !fields.contains(.server) {
            buffer.write("Server: ")
            buffer.write(server)
            buffer.write("\r\n")
        }
        // RFC 9110 §8.6: in these responses, Content-Length may report the length of content that is not
        // sent.
        let reportsLengthOnly = exchange.isHead || response.status.code == 304
        let hasOwnLength = reportsLengthOnly && fields.contains(.contentLength)
        appendFields(fields, keepingLength: hasOwnLength, to: &buffer)
        let framing = framing(of: response, length: length, for: exchange)
        if !hasOwnLength {
            appendFraming(framing, response: response, length: length, for: exchange, to: &buffer)
        }
        if !isPersistent(response, exchange, framing: framing) {
            buffer.write("Connection: close\r\n")
        } else if exchange.minorVersion == 0 {
            buffer.write("Connection: keep-alive\r\n")
        }
        buffer.write("\r\n")
        return framing
    }

    /// Whether the connection can carry another request after this response (RFC 9112 §9.3).
    package static func isPersistent(
        _ response: HTTPResponse, _ exchange: Context, framing: ResponseFraming
    ) -> Bool {
        exchange.keepsAlive && !response.closesConnection && framing != .untilClose
    }

    private static func framing(
        of response: HTTPResponse, length: Int64?, for exchange: Context
    ) -> ResponseFraming {
        if response.status.forbidsContent || exchange.isHead { return .none }
        if let length { return .length(length) }
        return exchange.minorVersion == 0 ? .untilClose : .chunked
    }

    private static func appendFraming(
        _ framing: ResponseFraming, response: HTTPResponse, length: Int64?, for exchange: Context,
        to buffer: inout some HeadSink
    ) {
        switch framing {
        case .length(let length):
            appendLength(length, to: &buffer)
        case .chunked:
            buffer.write("Transfer-Encoding: chunked\r\n")
        case .untilClose:
            break
        case .none:
            let status = response.status
            if status.code == 304 {
                // If the body is empty, the length of the omitted content is unknown.
                if let length, length > 0 { appendLength(length, to: &buffer) }
            } else if exchange.isHead, !status.forbidsContent {
                if let length {
                    appendLength(length, to: &buffer)
                } else if exchange.minorVersion >= 1 {
                    buffer.write("Transfer-Encoding: chunked\r\n")
                }
            }
        }
    }

    private static func appendLength(_ length: Int64, to buffer: inout some HeadSink) {
        buffer.write("Content-Length: ")
        buffer.writeDecimal(length)
        buffer.write("\r\n")
    }

    /// Appends the fields except those that would contradict the framing chosen by the connection.
    private static func appendFields(
        _ fields: HTTPFields, keepingLength: Bool, to buffer: inout some HeadSink
    ) {
        let hasFraming =
            fields.contains(.transferEncoding) || fields.contains(.connection)
            || fields.contains(.contentLength) && !keepingLength
        guard hasFraming else {
            buffer.write(fields.encoded)
            return
        }
        for line in fields.encoded.split(separator: 10) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            switch FieldName(parsing: Array(name).span) {
            case .transferEncoding, .connection: continue
            case .contentLength where !keepingLength: continue
            default:
                buffer.write(Array(line))
                buffer.write("\n")
            }
        }
    }

    private static func appendStatusLine(_ status: HTTPStatus, to buffer: inout some HeadSink) {
        switch status.code {
        case 200: buffer.write("HTTP/1.1 200 OK\r\n")
        case 201: buffer.write("HTTP/1.1 201 Created\r\n")
        case 204: buffer.write("HTTP/1.1 204 No Content\r\n")
        case 206: buffer.write("HTTP/1.1 206 Partial Content\r\n")
        case 207: buffer.write("HTTP/1.1 207 Multi-Status\r\n")
        case 304: buffer.write("HTTP/1.1 304 Not Modified\r\n")
        case 404: buffer.write("HTTP/1.1 404 Not Found\r\n")
        default:
            buffer.write("HTTP/1.1 ")
            buffer.writeDecimal(Int64(status.code))
            buffer.write(" ")
            buffer.write(status.reasonPhrase)
            buffer.write("\r\n")
        }
    }
}
