/// Sees the bytes of one connection in both directions, as HTTP has them: below requests, above encryption.
///
/// Made by ``TransportConfiguration/tap`` when a connection is accepted. All calls come on the loop of the connection,
/// one after another, and must not block; the bytes are valid during the call only.
package protocol ConnectionTap: AnyObject, Sendable {
    func received(_ bytes: UnsafeRawBufferPointer)
    /// The system has taken these bytes.
    func sent(_ bytes: UnsafeRawBufferPointer)
    /// The last call.
    func closed()
}
