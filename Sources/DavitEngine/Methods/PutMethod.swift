internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// PUT (RFC 9110 §9.3.4, RFC 4918 §9.7): the content of the target becomes the body, whole or not at all.
struct PutMethod: BriefMethod {
    /// What was received: small content in memory, everything else in a new file that nobody sees.
    enum Prepared: Sendable {
        case buffered(IOBuffer)
        case staged(any StagedContent)
    }

    struct Outcome: Sendable {
        var info: ResourceInfo
        var isNew: Bool
    }

    /// Bytes that are received before a file is made for them: the content of most documents, in one hop.
    private static let smallBytes = Int(shortBytes)
    private static let largeBytes = 1 << 20

    let share: Share
    /// A file that is made for a name that is not free is made for nothing.
    var expectsFreeNames: Bool { false }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        // A server that cannot apply a part must not take it for the whole (RFC 9110 §14.5).
        if scene.context.request.contains(.contentRange) { throw WebDAVError(.badRequest) }
        let path = scene.target.path
        switch scene.target.state {
        case .mapped(let info):
            if info.isCollection { throw .methodNotAllowed(AllowedMethods.collection) }
            if scene.context.endsInSlash { throw WebDAVError(.conflict) }
            return [.write(path)]
        case .unmapped:
            if scene.context.endsInSlash { throw WebDAVError(.conflict) }
            return [.write(path), .member(path)]
        case .missingAncestor: throw WebDAVError(.conflict)
        case .unservable: throw WebDAVError(.forbidden)
        }
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .upload }

    func content(of prepared: Prepared) -> PreparedContent {
        switch prepared {
        case .buffered(let buffer): .buffered(buffer)
        case .staged(let content): .staged(content)
        }
    }

    func canBeBrief(_ prepared: Prepared) -> Bool {
        if case .buffered = prepared { return true }
        return false
    }

    func isBrief(on scene: Scene) -> Bool { share.isBrief(replacing: scene.target) }

    /// A new file is on the volume of its folder; bytes in memory can go anywhere.
    func isForOnePlace(_ prepared: Prepared) -> Bool {
        if case .staged = prepared { return true }
        return false
    }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> Prepared {
        let body = scene.context.request.body
        let expected = body.declaredLength
        let small = IOBuffer(capacity: Int(min(expected ?? .max, Int64(Self.smallBytes))))
        if try await Self.fill(small, from: body, expected: expected) { return .buffered(small) }

        let (resources, path) = (share.resources, scene.target.path)
        let staged = try await share.offload { () throws(WebDAVError) in
            try storing { () throws(StoreError) in
                let staged = try resources.stageContent(for: path, expectedLength: expected)
                try staged.write(small)
                return staged
            }
        }
        try await receive(body, into: staged, expected: expected)
        return .staged(staged)
    }

    func prepareAtOnce(_ request: HTTPRequest) -> Prepared? {
        guard let bytes = request.body.arrived, bytes.count <= Self.smallBytes else { return nil }
        let small = IOBuffer(capacity: bytes.count)
        _ = small.append(bytes)
        return .buffered(small)
    }

    private func receive(
        _ body: any RequestBody, into staged: any StagedContent, expected: Int64?
    ) async throws(WebDAVError) {
        let large = IOBuffer(capacity: Self.largeBytes)
        var isComplete = false
        while !isComplete {
            large.removeAll()
            isComplete = try await Self.fill(large, from: body, expected: expected.map { $0 - staged.length })
            if large.count == 0 { return }
            // The socket is not read meanwhile: that is the back-pressure.
            try await share.attempt { wait throws(WebDAVError) in
                try storing { () throws(StoreError) in try staged.write(large, wait: wait) }
            }
        }
    }

    /// Fills the buffer, and says whether the body has ended.
    private static func fill(
        _ buffer: IOBuffer, from body: any RequestBody, expected: Int64?
    ) async throws(WebDAVError) -> Bool {
        do throws(HTTPError) {
            while buffer.freeCount > 0 && expected != Int64(buffer.count) {
                if try await body.read(into: buffer) == 0 { return true }
            }
        } catch {
            throw WebDAVError(connection: error)
        }
        return expected == Int64(buffer.count)
    }

    func commit(_ scene: Scene, _ prepared: Prepared, guard: WriteGuard) throws(WebDAVError) -> Outcome {
        let (path, old) = (scene.target.path, scene.target.info)
        return try storing { () throws(StoreError) in
            let staged: any StagedContent
            switch prepared {
            case .staged(let content):
                // The folder may have been moved while the bytes came in.
                content.place = scene.target.place
                staged = content
            case .buffered(let buffer):
                staged = try share.resources.stageContent(
                    for: scene.target.place, expectedLength: Int64(buffer.count))
                try staged.write(buffer)
            }
            let new = try staged.seal(replacing: old, modified: nil)
            try share.bind(path, from: old, to: new)
            try staged.publish(isReplacing: old != nil)
            return Outcome(info: new, isNew: old == nil)
        }
    }

    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        Self.response(to: outcome)
    }

    func response(to outcome: Outcome, on scene: Scene) -> HTTPResponse? { Self.response(to: outcome) }

    private static func response(to outcome: Outcome) -> HTTPResponse {
        var response = HTTPResponse(outcome.isNew ? .created : .noContent)
        response.fields.append(.etag, outcome.info.entityTag.encoded)
        response.fields.append(.lastModified, HTTPDate.imf(outcome.info.modified))
        return response
    }
}

extension Share {
    /// Lets the rows at `path` hold for what will replace the resource, before it does: a crash between the
    /// two leaves them with whichever is there. Without rows there is nothing to do, and no query.
    func bind(_ path: ResourcePath, from old: ResourceInfo?, to new: ResourceInfo) throws(StoreError) {
        guard let old, state.hasRows(at: path) else { return }
        try record([.bind(path, current: old.identity, pending: new.identity)])
    }
}

extension StoreError {
    init(_ error: StateError) {
        switch error {
        case .outOfSpace: self = .outOfSpace
        case .failed(let reason): self = .failed(reason: reason)
        }
    }
}
