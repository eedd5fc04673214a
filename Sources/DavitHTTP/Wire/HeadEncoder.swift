/// How the content of a response is delimited (RFC 9112 §6.3); what the connection sends after the head.
package enum ResponseFraming: Hashable, Sendable {
    /// Nothing follows the head.
    case none
    /// So many bytes; 0 is possible.
    case length(Int64)
    case chunked
    /// Content until the connection closes: for HTTP/1.0 and a length that is not known.
    case untilClose
}

/// Writes response heads.
package enum HeadEncoder {
    /// What the encoder has to know about the request.
    package struct Exchange: Hashable, Sendable {
        package var isHead: Bool
        package var minorVersion: UInt8
        /// The connection lives after this response if the response lets it.
        package var keepsAlive: Bool

        package init(isHead: Bool, minorVersion: UInt8, keepsAlive: Bool) {
            self.isHead = isHead
            self.minorVersion = minorVersion
            self.keepsAlive = keepsAlive
        }

        package init(_ request: HTTPRequest) {
            self.init(
                isHead: request.method == .head, minorVersion: request.minorVersion,
                keepsAlive: request.keepsAlive)
        }
    }

    /// The interim response to `Expect: 100-continue`.
    package static let continueHead: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    /// The whole of an interim response: fields of framing and of the connection are none of its business.
    package static func interim(_ status: HTTPStatus, _ fields: HTTPFields) -> [UInt8] {
        var head: [UInt8] = []
        appendStatusLine(status, to: &head)
        appendFields(fields, keepingLength: false, to: &head)
        head.write("\r\n")
        return head
    }

    /// Appends a complete head, as ``encode(_:length:for:date:server:into:)`` with the length of the body.
    package static func encode(
        _ response: HTTPResponse, for exchange: Exchange, date: [UInt8], server: [UInt8]? = nil,
        into buffer: inout [UInt8]
    ) -> ResponseFraming {
        encode(
            response, length: response.body.length, for: exchange, date: date, server: server, into: &buffer)
    }

    /// Appends a complete head.
    ///
    /// The connection lives on if `exchange.keepsAlive`, not `response.closesConnection`, and the result is
    /// not ``ResponseFraming/untilClose``; see ``isPersistent(_:_:framing:)``.
    ///
    /// - Parameters:
    ///   - length: bytes of content, or nil if not known; what a 304 or an answer to HEAD would have had.
    ///   - date: a date of 29 bytes, as ``HTTPDate/appendIMF(_:to:)`` makes it.
    ///   - server: the value of `Server`.
    package static func encode(
        _ response: HTTPResponse, length: Int64?, for exchange: Exchange, date: [UInt8],
        server: [UInt8]? = nil, into buffer: inout [UInt8]
    ) -> ResponseFraming {
        write(response, length: length, for: exchange, date: date, server: server, to: &buffer)
    }

    /// As ``encode(_:length:for:date:server:into:)``, straight into memory from which it is sent.
    /// - Returns: nil, and nothing was appended, if there is not enough room.
    package static func encode(
        _ response: HTTPResponse, length: Int64?, for exchange: Exchange, date: [UInt8],
        server: [UInt8]?, into buffer: IOBuffer
    ) -> ResponseFraming? {
        let room = fixedBytes + response.fields.encoded.count + (server?.count ?? 0)
        guard buffer.freeCount >= room else { return nil }
        var sink = buffer
        return write(response, length: length, for: exchange, date: date, server: server, to: &sink)
    }

    /// More than a head can have beside its fields and the name of the server: status line, names and date.
    private static let fixedBytes = 512

    private static func write(
        _ response: HTTPResponse, length: Int64?, for exchange: Exchange, date: [UInt8],
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
        // RFC 9110 §8.6: these two may tell the length of content that is not sent.
        let tellsLengthOnly = exchange.isHead || response.status.code == 304
        let hasOwnLength = tellsLengthOnly && fields.contains(.contentLength)
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

    /// True if the connection can carry another request after this response (RFC 9112 §9.3).
    package static func isPersistent(
        _ response: HTTPResponse, _ exchange: Exchange, framing: ResponseFraming
    ) -> Bool {
        exchange.keepsAlive && !response.closesConnection && framing != .untilClose
    }

    private static func framing(
        of response: HTTPResponse, length: Int64?, for exchange: Exchange
    ) -> ResponseFraming {
        if response.status.forbidsContent || exchange.isHead { return .none }
        if let length { return .length(length) }
        return exchange.minorVersion == 0 ? .untilClose : .chunked
    }

    private static func appendFraming(
        _ framing: ResponseFraming, response: HTTPResponse, length: Int64?, for exchange: Exchange,
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
                // An empty body says nothing about the length of the content that was not sent.
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

    /// Framing belongs to the connection: fields that would contradict it are left out.
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
