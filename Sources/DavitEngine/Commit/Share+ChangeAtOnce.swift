internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A method whose change can often be completed immediately on the event loop.
protocol InlineCommitMethod: ChangeMethod {
    /// Returns what ``ChangeMethod/prepare(_:)`` would return, if no waiting is needed; nil otherwise.
    func prepareAtOnce(_ request: HTTPRequest) throws(WebDAVError) -> Prepared?
    /// Whether the method is faster if it assumes that the names it creates do not exist.
    var expectsFreeNames: Bool { get }
    /// Returns the response to a brief change; nil if nothing was changed and ``Share/change(_:context:)``
    /// must be used.
    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse?
}

extension InlineCommitMethod where Prepared == Void {
    func prepareAtOnce(_ request: HTTPRequest) -> Prepared? { request.body.isPresent ? nil : () }
}

extension Share {
    /// Begins a change that always waits.
    func begin<Method: ChangeMethod>(
        _ method: Method, _ context: RequestContext
    ) throws(WebDAVError) -> MethodReply {
        .pending { () async throws(WebDAVError) in
            try await self.change(method, context: context)
        }
    }

    /// Begins a change, and completes it if nothing has to wait.
    func begin<Method: InlineCommitMethod>(
        _ method: Method, _ context: RequestContext
    ) throws(WebDAVError) -> MethodReply {
        if resources.changesAtOnce, let response = try changeAtOnce(method, context: context) {
            return .ready(response)
        }
        return .pending { () async throws(WebDAVError) in
            try await self.change(method, context: context)
        }
    }

    /// Performs a change like ``change(_:context:)``, provided that nothing requires waiting: neither content
    /// that has not arrived, nor path locks, nor the disk. Runs from the path locks to the response in one
    /// synchronous call, without a task.
    ///
    /// - Parameter context: a context with the current time, without `If`.
    /// - Returns: nil, with nothing changed, if ``change(_:context:)`` must be used.
    func changeAtOnce<Method: InlineCommitMethod>(
        _ method: Method, context: RequestContext
    ) throws(WebDAVError) -> HTTPResponse? {
        guard context.ifHeader == nil, configuration.hooks.areEmpty,
            method.skipsInitialLookup(context.request),
            let prepared = try method.prepareAtOnce(context.request)
        else {
            return nil
        }
        let expected = expectedTarget(for: method, context: context)
        return try pathLocks.withPathLockIfFree(claims(of: method, on: expected)) { () throws(WebDAVError) in
            // A precondition depends on the existing resource, so it must be looked up.
            if method.expectsFreeNames, !Self.hasPreconditions(context.request) {
                let done = try changeNow(method, prepared, expected, mode: .atOnceAssumingFreeNames)
                if let done { return done }
            }
            return try changeNow(method, prepared, expected, mode: .atOnce)
        }
    }

    private func changeNow<Method: InlineCommitMethod>(
        _ method: Method, _ prepared: Method.Prepared, _ expected: ChangeTarget, mode: LookupMode
    ) throws(WebDAVError) -> HTTPResponse? {
        do throws(WebDAVError) {
            let (outcome, change) = try commitNow(
                method, prepared, from: expected, claimed: expected, expected.context, isLast: false,
                mode: mode)
            return outcome.flatMap { method.response(to: $0, on: change) }
        } catch {
            if error.wouldBlock { return nil }
            // A lock protects the collection, but a full lookup may find that the name exists, which
            // determines the response.
            if mode == .atOnceAssumingFreeNames, error.status == .locked { return nil }
            throw error
        }
    }

    private static func hasPreconditions(_ request: HTTPRequest) -> Bool {
        request.contains(.ifMatch) || request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince)
            || request.contains(.ifUnmodifiedSince)
    }
}
