internal import DavitHTTP
internal import DavitServer
internal import DavitStore

extension Share {
    /// Logs that a limit has refused a request; see ``LimitLog``.
    func logRefusal(_ cause: StaticString, _ context: RequestContext) {
        limitLog.refused(
            cause, account: context.principal, address: context.request.peerAddress, now: context.now)
    }
}

extension RequestContext {
    /// Who is charged for what this request makes the server remember or hold.
    var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// The network of the client, where there is no account to charge.
    var network: String? {
        principal == nil ? PeerNetwork.text(of: request.peerAddress) : nil
    }
}

extension Share {
    /// Bytes of an XML body that is received without a slot.
    private static let unreservedBodyBytes: Int64 = 64 << 10

    /// The whole content of a request, for the XML bodies of WebDAV. A large one waits until its client, and all clients
    /// together, hold few enough of them.
    /// - Throws: 413 over ``ShareConfiguration/bodyLimitBytes``, before reading where Content-Length tells; 503 if too
    ///   many wait; 415 for an unknown charset.
    func wholeBody(_ context: RequestContext) async throws(WebDAVError) -> XMLBody {
        let (body, limit) = (context.request.body, configuration.bodyLimitBytes)
        let length = body.declaredLength ?? Int64(limit)
        guard body.isPresent, length > Self.unreservedBodyBytes, length <= Int64(limit) else {
            return try await context.request.wholeBody(limitBytes: limit)
        }
        guard let slot = await largeBodies.enter(context.client) else {
            logRefusal("requests with a large body", context)
            throw .busy
        }
        defer { withExtendedLifetime(slot) {} }
        return try await context.request.wholeBody(limitBytes: limit)
    }

    /// Requests that wait until they may receive a large body; see ``ShareConfiguration/largeBodyLimit``.
    package var largeBodiesWaiting: Int { largeBodies.waitingCount }

    /// Responses that wait until they may read the properties of a large resource; see
    /// ``ShareConfiguration/largeReadLimit``.
    package var largeReadsWaiting: Int { largeReads.waitingCount }
}
