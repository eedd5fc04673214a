internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// A change of a part of the content: PATCH (RFC 5789) with the media type that ``ContentPart`` knows, and PUT with
/// `Content-Range` (RFC 9110 §14.5).
///
/// The part is received as a PUT is. Then the content is copied, the part goes into the copy, and the copy replaces the
/// content as that of a PUT does: so nobody sees half a change, whenever the server dies. The copy is built before the
/// section. If the content has changed meanwhile it is built again inside, where nobody can change it: of two changes
/// at once, none is lost.
struct PatchMethod: ChangeMethod {
    struct Prepared: Sendable {
        /// What was received.
        var part: PreparedContent
        /// The content with the part in it, and the tag of what it was made of; nil where there is no content yet.
        var update: (content: any StagedContent, base: EntityTag)?
    }

    let share: Share
    let part: ContentPart
    /// Whether the resource is made if there is none: PUT is about what shall be, PATCH about what is.
    private let creates: Bool

    private let put: PutMethod

    init(share: Share, request: HTTPRequest) throws(WebDAVError) {
        self.share = share
        creates = request.method == .put
        put = try PutMethod(share: share, request: request, isPart: true)
        part = creates ? try ContentPart(ofPut: request) : try ContentPart(ofPatch: request)
    }

    /// What is there decides about the request, and is copied before the section.
    func needsNoScene(_ request: HTTPRequest) -> Bool { false }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        if scene.target.info == nil, !creates { throw WebDAVError(.notFound) }
        if scene.target.info?.isCollection == false, !creates, scene.context.endsInSlash {
            throw WebDAVError(.notFound)
        }
        let effects = try put.effects(on: scene)
        let current = scene.target.info?.length ?? 0
        let offset = try part.offset(in: current)
        if let length = scene.context.request.body.declaredLength {
            try part.check(contentLength: length)
            try checkLength(of: length, at: offset, in: current)
        }
        return effects
    }

    /// Refuses a part that would make the content too long, or says that all of its parts will.
    private func checkLength(of part: Int64, at offset: Int64, in current: Int64) throws(WebDAVError) {
        let (end, isTooLong) = offset.addingReportingOverflow(part)
        if isTooLong { throw .unsatisfiableRange(of: current) }
        try share.checkLength(max(current, end, self.part.total ?? 0))
    }

    func serves(_ prepared: Prepared, from first: Scene, in scene: Scene) -> Bool {
        scene.isInPlace(of: first)
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .upload }

    /// The content as it will be, with the part in it.
    func content(of prepared: Prepared) -> PreparedContent? {
        prepared.update.map { .staged($0.content) } ?? prepared.part
    }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> Prepared {
        let received = try await put.prepare(scene)
        try part.check(contentLength: received.length)
        guard scene.target.info != nil else { return Prepared(part: received) }
        let (method, place) = (self, scene.target.place)
        let update = { @Sendable () throws(WebDAVError) in try method.update(received, at: place) }
        return isLong(scene)
            ? try await share.offloadLong(for: scene.context.request.client, .begins, update)
            : try await share.offload(update)
    }

    /// Whether the content is too long to be copied in one piece.
    private func isLong(_ scene: Scene) -> Bool { scene.target.info?.length ?? 0 > Share.sliceBytes }

    /// The content may have to be copied again.
    func commitsLongWork(on scene: Scene, _ prepared: Prepared) -> Bool { isLong(scene) }

    /// Builds the new content out of what is there and the part.
    private func update(
        _ received: PreparedContent, at place: Place
    ) throws(WebDAVError) -> Prepared {
        let resources = share.resources
        let (content, base) = try storing { () throws(StoreError) in try resources.stageUpdate(of: place) }
        let offset = try part.offset(in: base.length)
        try checkLength(of: received.length, at: offset, in: base.length)
        try storing { () throws(StoreError) in
            switch received {
            case .buffered(let buffer): try content.write(buffer, at: offset)
            case .staged(let staged): try content.write(contentOf: staged, at: offset)
            }
        }
        return Prepared(part: received, update: (content, base.entityTag))
    }

    func commit(
        _ scene: Scene, _ prepared: Prepared, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        guard let old = scene.target.info else {
            return try put.commit(scene, prepared.part, guard: check)
        }
        var update = prepared.update
        if update?.base != old.entityTag {
            // Whoever was asked about the content has seen another.
            if share.configuration.hooks.allows != nil { throw .busy }
            update = try self.update(prepared.part, at: scene.target.place).update
        }
        guard let update else { throw WebDAVError(.conflict) }
        return try put.commit(scene, .staged(update.content), guard: check)
    }

    func finish(
        _ outcome: PutMethod.Outcome, on scene: Scene
    ) async throws(WebDAVError) -> HTTPResponse {
        try await put.finish(outcome, on: scene)
    }
}
