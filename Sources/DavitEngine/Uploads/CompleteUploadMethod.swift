internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Completes an upload: its bytes become the content of the target, as in a PUT. All checks of a PUT are
/// repeated.
struct CompleteUploadMethod: UploadingMethod {
    let share: Share
    let put: PutMethod
    let content: any UploadContent
    /// Whether the server chooses the name; an existing resource is then not replaced.
    let needsFreeName: Bool

    func skipsInitialLookup(_ request: HTTPRequest) -> Bool { true }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        [.writing(change.target)]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try put.check(change)
        if needsFreeName, change.target.info != nil { throw WebDAVError(store: .alreadyExists) }
        try share.receiver.checkLength(content.length)
    }

    func canReuse(_ prepared: PreparedContent, from first: ChangeTarget, in change: ChangeTarget) -> Bool {
        put.canReuse(prepared, from: first, in: change)
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> PreparedContent { .staged(content) }

    func commit(
        _ change: ChangeTarget, _ prepared: PreparedContent, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        try put.commit(change, prepared, guard: check)
    }
}
