/// Detection of TLS before decryption.
package enum TLSRecord {
    /// Whether a connection that begins with this byte uses TLS: the type of a handshake record (RFC 8446
    /// §5.1). No HTTP request begins with it, because a method consists of visible ASCII (RFC 9110 §5.6.2).
    package static func begins(with firstByte: UInt8) -> Bool { firstByte == 22 }
}
