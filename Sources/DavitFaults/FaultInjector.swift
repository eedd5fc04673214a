public import DavitHTTP
public import DavitServer

/// Makes a server slow or faulty as a plan says, to test clients. Add it before all other middleware.
public struct FaultInjector: Middleware {
    private let plan: FaultRuleSet

    public init(_ plan: FaultRuleSet) { self.plan = plan }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        // A request whose path is malformed is refused anyway.
        guard let (path, _) = try? ResourcePath.parse(rawPath: request.rawPath),
            let faults = plan.faults(of: request.method, path)
        else { return try next.respond(to: request) }
        let received = faults.refusal?.receivedPart
        if request.body.isPresent, faults.upBytesPerSecond != nil || received != nil {
            request.body = FaultyContent(
                request.body, bytesPerSecond: faults.upBytesPerSecond,
                refusal: received == nil ? nil : faults.refusal)
        }
        return .pending { () async throws(HTTPError) in
            try await FaultPause.sleep(nanoseconds: faults.delay)
            if let manner = faults.endWithoutResponse { throw try await Self.end(manner) }
            if faults.losesLocks { await LockLoss.removeLocks(of: request, next: next) }
            var response = try await Self.response(to: request, faults, next: next)
            try await FaultPause.sleep(nanoseconds: faults.firstByteDelay)
            if faults.shape != DeliveryShape() {
                response.body = .shaped(ShapedBody(response.body, faults.shape))
            }
            return response
        }
    }

    private static nonisolated(nonsending) func response(
        to request: HTTPRequest, _ faults: FaultRuleSet.Faults, next: some Handler
    ) async throws(HTTPError) -> HTTPResponse {
        if let refusal = faults.refusal, refusal.receivedPart == nil || !request.body.isPresent {
            return refusal.response(for: request)
        }
        do throws(HTTPError) { return try await next.respond(to: request).response() } catch {
            if error.isDisconnected { throw error }
            // Also send errors as slowly as other responses.
            return .error(error.status, error.reason, for: request)
        }
    }

    /// Returns the error that ends the connection, after waiting for the client to disconnect if it stalls.
    private static nonisolated(nonsending) func end(
        _ manner: DeliveryShape.End.Manner
    ) async throws(HTTPError) -> HTTPError {
        switch manner {
        case .close: return .disconnected
        case .reset: return .reset
        case .stall: while true { try await FaultPause.sleep(nanoseconds: 3600_000_000_000) }
        }
    }
}

extension FaultRule.Refusal {
    func response(for request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.error(status, "This error was requested by a fault rule.", for: request)
        if let retryAfterSeconds { response.fields.append(.retryAfter, "\(retryAfterSeconds)") }
        return response
    }
}

enum FaultPause {
    /// - Throws: ``DavitHTTP/HTTPError/disconnected`` if the client disconnects in the meantime.
    static nonisolated(nonsending) func sleep(nanoseconds: Int64) async throws(HTTPError) {
        guard nanoseconds > 0 else { return }
        try await sleep(until: .now + .nanoseconds(nanoseconds))
    }

    /// - Throws: ``DavitHTTP/HTTPError/disconnected`` if the client disconnects in the meantime.
    static nonisolated(nonsending) func sleep(
        until due: ContinuousClock.Instant
    ) async throws(HTTPError) {
        // By default, the system adds up to a tenth to a delay.
        do { try await Task.sleep(until: due, tolerance: .zero, clock: .continuous) } catch {
            throw .disconnected
        }
    }
}
