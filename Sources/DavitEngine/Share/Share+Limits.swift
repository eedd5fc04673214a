internal import DavitHTTP
internal import DavitServer
internal import DavitStore

extension Share {
    /// Logs that a limit caused a request to be refused; see ``LimitLog``.
    func logRefusal(_ cause: StaticString, _ context: RequestContext) {
        limitLog.refused(
            cause, account: context.principal, address: context.request.peerAddress, now: context.now)
    }
}

extension RequestContext {
    /// The client that is charged for what the server stores or holds because of this request.
    var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// The network of the client if it is not authenticated; otherwise nil.
    var network: String? {
        principal == nil ? PeerNetwork.text(of: request.peerAddress) : nil
    }
}

extension Share {
    /// The maximum size in bytes of an XML body that is received without a slot.
    private static let unreservedBodyBytes: Int64 = 64 << 10

    /// Returns the entire content of a request, for the XML bodies of WebDAV. A large body waits for a slot;
    /// the number of slots is limited per client and in total.
    /// - Throws: 413 if the content is longer than ``ShareConfiguration/bodyLimitBytes``, before reading if
    ///   Content-Length is larger; 503 if too many requests are waiting; 415 for an unknown charset.
    func wholeBody(_ context: RequestContext) async throws(WebDAVError) -> XMLBody {
        let (body, limit) = (context.request.body, configuration.bodyLimitBytes)
        let length = body.declaredLength ?? Int64(limit)
        guard body.isPresent, length > Self.unreservedBodyBytes, length <= Int64(limit) else {
            return try await context.request.wholeBody(limitBytes: limit)
        }
        guard let slot = await largeBodies.enter(context.client) else {
            logRefusal("concurrent requests with a large body", context)
            throw .busy
        }
        defer { withExtendedLifetime(slot) {} }
        return try await context.request.wholeBody(limitBytes: limit)
    }

    /// The number of requests that wait for a slot to receive a large body; see
    /// ``ShareConfiguration/largeBodyLimit``.
    package var largeBodiesWaiting: Int { largeBodies.waitingCount }

    /// The number of responses that wait for a slot to read large properties; see
    /// ``ShareConfiguration/largeReadLimit``.
    package var largeReadsWaiting: Int { largeReads.waitingCount }
}
