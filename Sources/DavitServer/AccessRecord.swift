public import DavitHTTP

/// What is worth knowing about a request and its response, when the response ended.
public struct AccessRecord: Sendable {
    /// Nil where the head could not be read.
    public var method: HTTPMethod?
    /// The path and the query as sent; they can hold any bytes. Empty where the head could not be read.
    public var target: [UInt8]
    public var minorVersion: UInt8
    /// Nil where the peer went away, or was cut off, before anything was answered.
    public var status: HTTPStatus?
    /// Bytes of content that were handed to the system.
    public var bytesSent: Int64
    /// From the end of the head to the end of the response.
    public var duration: Duration
    public var principal: String?
    /// Numeric address without port.
    public var peer: String
    /// False if the response was cut short.
    public var isComplete: Bool

    public init(
        method: HTTPMethod?, target: [UInt8], minorVersion: UInt8, status: HTTPStatus?, bytesSent: Int64,
        duration: Duration, principal: String?, peer: String, isComplete: Bool
    ) {
        self.method = method
        self.target = target
        self.minorVersion = minorVersion
        self.status = status
        self.bytesSent = bytesSent
        self.duration = duration
        self.principal = principal
        self.peer = peer
        self.isComplete = isComplete
    }

    /// The line of the access log: `192.0.2.7 anna "PUT /a%20b HTTP/1.1" 201 0 bytes 1.250 ms`.
    ///
    /// ASCII, without a line end. Nothing in it can forge a line or disturb a terminal.
    public var line: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96 + target.count)
        Self.append(peer.isEmpty ? "-" : peer, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        Self.append(principal ?? "-", to: &bytes)
        bytes.append(contentsOf: " \"".utf8)
        if let method {
            Self.append(method.rawValue, to: &bytes)
            bytes.append(UInt8(ascii: " "))
            for byte in target { Self.append(byte, to: &bytes) }
            bytes.append(contentsOf: " HTTP/1.".utf8)
            bytes.appendDecimal(Int64(minorVersion))
        } else {
            bytes.append(UInt8(ascii: "-"))
        }
        bytes.append(contentsOf: "\" ".utf8)
        if let status {
            bytes.appendDecimal(Int64(status.code))
        } else {
            bytes.append(UInt8(ascii: "-"))
        }
        bytes.append(UInt8(ascii: " "))
        bytes.appendDecimal(bytesSent)
        bytes.append(contentsOf: " bytes ".utf8)
        appendMilliseconds(to: &bytes)
        if !isComplete { bytes.append(contentsOf: " cut short".utf8) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func appendMilliseconds(to bytes: inout [UInt8]) {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        bytes.appendDecimal(microseconds / 1000)
        bytes.append(UInt8(ascii: "."))
        for divisor in [100, 10, 1] as [Int64] {
            bytes.append(UInt8(ascii: "0") + UInt8(microseconds % 1000 / divisor % 10))
        }
        bytes.append(contentsOf: " ms".utf8)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 { append(byte, to: &bytes) }
    }

    /// Printable ASCII as it is; quotes, backslashes and all else as `\xHH`.
    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        let isPlain = byte >= 32 && byte < 127 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        if isPlain { return bytes.append(byte) }
        bytes.append(contentsOf: "\\x".utf8)
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }
}
