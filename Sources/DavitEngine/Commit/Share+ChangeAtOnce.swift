internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A method whose change is often over at once.
protocol BriefMethod: ChangeMethod {
    /// What ``ChangeMethod/prepare(_:)`` would make, if that takes no time; nil if something has to be waited for.
    func prepareAtOnce(_ request: HTTPRequest) throws(WebDAVError) -> Prepared?
    /// Whether the method has something to gain from taking the names it makes to be free.
    var expectsFreeNames: Bool { get }
    /// The response to a brief change; nil if nothing was changed, and the usual way is to be gone.
    func response(to outcome: Outcome, on scene: Scene) -> HTTPResponse?
}

extension BriefMethod where Prepared == Void {
    func prepareAtOnce(_ request: HTTPRequest) -> Prepared? { request.body.isPresent ? nil : () }
}

extension Share {
    /// As ``change(_:context:)``, if nothing has to be waited for: no content that is still on its way, no other
    /// section, no disk. One call from the claims to the response, without a task.
    ///
    /// - Parameter context: of this moment, without `If`.
    /// - Returns: nil, and nothing has been done, if the usual way is to be gone.
    func changeAtOnce<Method: BriefMethod>(
        _ method: Method, context: RequestContext
    ) throws(WebDAVError) -> HTTPResponse? {
        guard configuration.hooks.areEmpty, method.needsNoScene(context.request),
            let prepared = try method.prepareAtOnce(context.request)
        else {
            return nil
        }
        let expected = expectedScene(for: method, context: context)
        return try sections.withSectionIfFree(claims(of: method, on: expected)) { () throws(WebDAVError) in
            // A condition is about what stands there, so somebody has to look.
            if method.expectsFreeNames, !Self.hasPreconditions(context.request) {
                let done = try changeNow(method, prepared, expected, look: .atOnceOverFreeNames)
                if let done { return done }
            }
            return try changeNow(method, prepared, expected, look: .atOnce)
        }
    }

    private func changeNow<Method: BriefMethod>(
        _ method: Method, _ prepared: Method.Prepared, _ expected: Scene, look: Look
    ) throws(WebDAVError) -> HTTPResponse? {
        do throws(WebDAVError) {
            let (outcome, scene) = try commitNow(
                method, prepared, from: expected, claimed: expected, expected.context, isLast: false,
                look: look)
            return outcome.flatMap { method.response(to: $0, on: scene) }
        } catch {
            if error.wouldBlock { return nil }
            // A lock forbids to make the name: but whoever looks may see that it is taken, which is the answer then.
            if look == .atOnceOverFreeNames, error.status == .locked { return nil }
            throw error
        }
    }

    private static func hasPreconditions(_ request: HTTPRequest) -> Bool {
        request.contains(.ifMatch) || request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince)
            || request.contains(.ifUnmodifiedSince)
    }
}
