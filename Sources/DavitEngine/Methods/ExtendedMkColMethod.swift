internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Extended MKCOL (RFC 5689): atomically creates a collection with the properties that the body specifies.
struct ExtendedMkColMethod: ChangeMethod {
    struct Outcome: Sendable {
        /// The refused properties and the reasons; empty if the collection was created.
        var refused: [(name: PropertyName, reason: Refusal)] = []
        /// The properties that were not refused. They fail with 424 if any other property was refused.
        var others: [PropertyName] = []
    }

    enum Refusal: CaseIterable {
        case type, protected, unsuitable, tooLarge

        var status: HTTPStatus {
            switch self {
            case .type, .protected: .forbidden
            case .unsuitable: .conflict
            case .tooLarge: .insufficientStorage
            }
        }
        var condition: ErrorBody.Condition? {
            switch self {
            case .type: .validResourceType
            case .protected: .cannotModifyProtectedProperty
            case .unsuitable: nil
            case .tooLarge: .quotaNotExceeded
            }
        }
    }

    private static let resourceType = PropertyName.dav("resourcetype")

    let share: Share
    var createsTarget: Bool { true }

    var auditedOperation: AuditEvent.Operation? { .createCollection }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        outcome.refused.isEmpty
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .createCollection }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        MkColMethod(share: share).requiredRights(on: change)
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try Self.checkType(of: change.context.request)
        try MkColMethod(share: share).check(change)
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] { MkColMethod(share: share).effects(on: change) }

    /// Refuses content of an unsupported media type (RFC 4918 §9.3). Content without a type may be XML.
    private static func checkType(of request: HTTPRequest) throws(WebDAVError) {
        guard request.contains(.contentType) else { return }
        switch request.contentType?.essence {
        case "application/xml", "text/xml": return
        default: throw WebDAVError(.unsupportedMediaType)
        }
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> MkColBody {
        let request = change.context.request
        try Self.checkType(of: request)
        let body = try await share.xmlBodies.read(change.context)
        do throws(BodyError) {
            if body.isEmpty { return .empty }
            return try MkColBody.parse(body.bytes, charset: body.charset, limits: body.limits)
        } catch {
            switch error {
            case .notThis: throw WebDAVError(.unsupportedMediaType)
            // Without a Content-Type, malformed XML may be content in another format.
            case .malformed where !request.contains(.contentType): throw WebDAVError(.unsupportedMediaType)
            default: throw WebDAVError(body: error)
            }
        }
    }

    func commit(
        _ change: ChangeTarget, _ body: MkColBody, guard check: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        let refusal = Self.refusal(of: body, now: change.context.now)
        guard refusal.refused.isEmpty else { return refusal }
        let path = change.target.path
        let rows = body.properties.instructions.compactMap { instruction -> StateChange? in
            guard case .set(let name, let value) = instruction, name != Self.resourceType else { return nil }
            return .setProperty(path, StoredProperty(name: name, value: value))
        }
        do throws(StoreError) {
            guard !rows.isEmpty else {
                try share.resources.createCollection(at: change.target.location)
                return Outcome()
            }
            try create(path, rows)
        } catch .quotaExceeded where Self.bytes(of: rows) > share.configuration.propertyLimitBytes {
            share.limitLog.refused("size of the properties of a resource", change.context)
            let names = body.properties.names
            return Outcome(
                refused: names.filter { $0 != Self.resourceType }.map { ($0, .tooLarge) },
                others: names.filter { $0 == Self.resourceType })
        } catch {
            throw WebDAVError(store: error)
        }
        return Outcome()
    }

    private static func bytes(of rows: [StateChange]) -> Int {
        rows.reduce(0) { sum, row in
            guard case .setProperty(_, let property) = row else { return sum }
            return sum + property.byteCount
        }
    }

    /// Creates the collection. The rows are committed first, bound to the identity of the new collection, and have no
    /// effect until it exists.
    private func create(_ path: ResourcePath, _ rows: [StateChange]) throws(StoreError) {
        let staged = try share.resources.stageCollection(at: path)
        try share.rows.commit(share.properties.transaction(at: path, staged.info, rows))
        do throws(StoreError) {
            try staged.publish(isReplacing: false)
        } catch {
            share.rows.drop(under: path)
            throw error
        }
    }

    private static func refusal(of body: MkColBody, now: Timestamp) -> Outcome {
        var reasons: [PropertyName: Refusal] = [:]
        if !body.isPlainCollection { reasons[resourceType] = .type }
        for instruction in body.properties.instructions where instruction.name != resourceType {
            switch PropertyEffect(instruction, isCollection: true, now: now) {
            case .row: break
            case .unsuitable: reasons[instruction.name] = .unsuitable
            // Modification times are protected too: a new collection has the current time.
            case .executable, .modified, .protected: reasons[instruction.name] = .protected
            }
        }
        var outcome = Outcome()
        for name in body.properties.names {
            if let reason = reasons[name] {
                outcome.refused.append((name, reason))
            } else {
                outcome.others.append(name)
            }
        }
        return outcome
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        guard !outcome.refused.isEmpty else { return HTTPResponse(status: .created) }
        let writer = MultistatusWriter()
        writer.beginMkColResponse()
        for reason in Refusal.allCases {
            writer.beginPropStat()
            for (name, other) in outcome.refused where other == reason { writer.emptyProperty(name) }
            writer.endPropStat(status: reason.status, condition: reason.condition)
        }
        writer.beginPropStat()
        for name in outcome.others { writer.emptyProperty(name) }
        writer.endPropStat(status: .failedDependency)
        writer.endMkColResponse()
        let isTooLarge = outcome.refused.contains { $0.reason == .tooLarge }
        var response = HTTPResponse(
            status: isTooLarge ? .insufficientStorage : .forbidden, body: .bytes(writer.drain()))
        response.fields.append(.contentType, ErrorBody.mediaType)
        response.fields.append(.cacheControl, "no-cache")
        return response
    }
}
