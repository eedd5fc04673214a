/// Observes the bytes of one connection in both directions, as plaintext HTTP.
///
/// Created by ``TransportConfiguration/tap`` when a connection is accepted. All methods are called on the
/// connection's loop, one at a time, and must not block. The bytes are valid only during the call.
package protocol ConnectionTap: AnyObject, Sendable {
    func received(_ bytes: UnsafeRawBufferPointer)
    /// Called when bytes have been handed to the system or, with TLS, encrypted for sending.
    func sent(_ bytes: UnsafeRawBufferPointer)
    /// Called once when the connection is closed; no other call follows.
    func closed()
}
