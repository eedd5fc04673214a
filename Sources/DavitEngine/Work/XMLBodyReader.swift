internal import DavitHTTP
internal import DavitServer

/// Receives the XML bodies of requests. A large body, or a large form, waits for a slot; the number of slots is limited per
/// client and in total.
package final class XMLBodyReader: Sendable {
    /// The maximum size in bytes of a body that is received without a slot.
    private static let unreservedBytes: Int64 = 64 << 10

    private let limitBytes: Int
    private let slots: ClientSlots

    init(limitBytes: Int, _ slots: ClientSlots) {
        self.limitBytes = limitBytes
        self.slots = slots
    }

    /// The number of requests that wait for a slot.
    package var waitingCount: Int { slots.waitingCount }

    /// Returns the entire body of a request.
    /// - Throws: 413 if the body is longer than ``ShareConfiguration/bodyLimitBytes``, without reading it if
    ///   Content-Length already exceeds the limit; 503 if too many requests are waiting; 415 for an unsupported
    ///   charset.
    func read(_ context: RequestContext) async throws(WebDAVError) -> XMLBody {
        let (body, slot) = try await receive(context)
        defer { withExtendedLifetime(slot) {} }
        return body
    }

    /// Same as ``read(_:)``, but the caller can hold the slot, if any, until the response begins. Otherwise, many requests that
    /// wait for something else could keep their parsed bodies.
    func receive(_ context: RequestContext) async throws(WebDAVError) -> (XMLBody, ClientSlots.Slot?) {
        let slot = try await slot(for: context, limitBytes: limitBytes)
        return (try await context.request.wholeBody(limitBytes: limitBytes), slot)
    }

    /// Waits for a slot to receive the body of a request, which is an XML body or a form.
    /// - Parameter limitBytes: the maximum size of the body in bytes.
    /// - Returns: nil if the body needs no slot, because it is small or will be refused without being read.
    /// - Throws: 503 if too many requests are waiting.
    func slot(
        for context: RequestContext, limitBytes: Int
    ) async throws(WebDAVError) -> ClientSlots.Slot? {
        let body = context.request.body
        let length = body.declaredLength ?? Int64(limitBytes)
        guard body.isPresent, length > Self.unreservedBytes, length <= Int64(limitBytes) else { return nil }
        return try await slots.enter(for: context)
    }
}
