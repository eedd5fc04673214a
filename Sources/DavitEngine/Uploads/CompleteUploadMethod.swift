internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Completes an upload: its bytes become the content of the target, as in a PUT. All checks of a PUT are
/// repeated.
struct CompleteUploadMethod: ChangeMethod {
    let share: Share
    let put: PutMethod
    let content: any UploadContent
    /// Whether the server chooses the name; an existing resource is then not replaced.
    let needsFreeName: Bool

    func needsNoScene(_ request: HTTPRequest) -> Bool { true }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        let effects = try put.effects(on: scene)
        if needsFreeName, scene.target.info != nil { throw WebDAVError(store: .alreadyExists) }
        try share.checkLength(content.length)
        return effects
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .upload }
    func content(of prepared: PreparedContent) -> PreparedContent? { prepared }

    func serves(_ prepared: PreparedContent, from first: Scene, in scene: Scene) -> Bool {
        put.serves(prepared, from: first, in: scene)
    }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> PreparedContent { .staged(content) }

    func commit(
        _ scene: Scene, _ prepared: PreparedContent, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        try put.commit(scene, prepared, guard: check)
    }

    func finish(_ outcome: PutMethod.Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        try await put.finish(outcome, on: scene)
    }
}
