/// What can be seen of TLS before it is decrypted.
package enum TLSRecord {
    /// Whether a connection that begins with this byte speaks TLS: the type of a handshake record
    /// (RFC 8446 §5.1). No HTTP request begins with it, because a method is visible ASCII (RFC 9110 §5.6.2).
    package static func begins(with firstByte: UInt8) -> Bool { firstByte == 22 }
}
