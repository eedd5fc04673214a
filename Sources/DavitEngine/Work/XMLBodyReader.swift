internal import DavitHTTP
internal import DavitServer

/// Receives the XML bodies of requests. A large body waits for a slot; the number of slots is limited per client and in total.
package final class XMLBodyReader: Sendable {
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
        let slot = try await slots.enter(toReceive: context, limitBytes: limitBytes)
        defer { withExtendedLifetime(slot) {} }
        return try await context.request.wholeBody(limitBytes: limitBytes)
    }
}

extension ClientSlots {
    /// Waits for a slot to receive the body of a request.
    /// - Parameter limitBytes: the maximum size of the body in bytes.
    /// - Returns: nil if the body needs no slot, because it is small or will be refused without being read.
    /// - Throws: 503 if too many requests are waiting.
    func enter(toReceive context: RequestContext, limitBytes: Int) async throws(WebDAVError) -> Slot? {
        let body = context.request.body
        let length = body.declaredLength ?? Int64(limitBytes)
        guard body.isPresent, length > Int64(Self.unreservedBytes), length <= Int64(limitBytes) else {
            return nil
        }
        return try await enter(for: context)
    }
}
