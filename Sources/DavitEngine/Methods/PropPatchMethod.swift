internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// PROPPATCH (RFC 4918 §9.2): applies either all instructions, in document order, or none.
struct PropPatchMethod: ChangeMethod {
    struct Outcome: Sendable {
        /// One entry for each property in the request, in document order and without duplicates.
        var results: [(name: PropertyName, status: HTTPStatus)]
        /// The precondition code for the properties with the status 403.
        var condition: ErrorBody.Condition?
    }

    let share: Share

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        change.target.info == nil ? [] : [RequiredRight(rights: .change, path: change.target.path)]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        _ = try change.target.mapped(for: change.context)
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] { [.write(change.target.path)] }

    var auditedOperation: AuditEvent.Operation? { .setProperties }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        // Either all properties are changed or none.
        outcome.results.allSatisfy { $0.status == .ok }
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { nil }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> PropertyUpdate {
        let body = try await share.xmlBodies.read(change.context)
        return try parsing { () throws(BodyError) in
            try PropertyUpdate.parse(body.bytes, charset: body.charset, limits: body.limits)
        }
    }

    var mayChangeRowsOnly: Bool { true }

    func commit(_ change: ChangeTarget, _ update: PropertyUpdate, guard: WriteGuard) throws(WebDAVError)
        -> Outcome
    {
        let plan = try plan(change, update)
        guard plan.attributes.count > 0 else {
            do throws(StoreError) {
                try share.rows.commit(
                    share.properties.transaction(at: change.target.path, plan.info, plan.rows))
            } catch .quotaExceeded {
                return Self.refusalIfTooLarge(plan.rows, plan.outcome)
            } catch {
                throw WebDAVError(store: error)
            }
            return plan.outcome
        }
        do throws(StoreError) {
            try share.properties.update(
                change.target.path, plan.info, rows: plan.rows, attributes: plan.attributes)
        } catch .forbidden {
            // The file probably belongs to another user, so that its attributes cannot be set.
            return Self.refusal(in: plan.outcome, nil) { plan.ofAttributes.contains($0) ? .forbidden : nil }
        } catch .quotaExceeded {
            return Self.refusalIfTooLarge(plan.rows, plan.outcome)
        } catch {
            throw WebDAVError(store: error)
        }
        return plan.outcome
    }

    func rowChange(
        _ change: ChangeTarget, _ update: PropertyUpdate, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? {
        let plan = try plan(change, update)
        guard plan.attributes.count == 0 else { return nil }
        return RowChange(
            rows: share.properties.transaction(at: change.target.path, plan.info, plan.rows),
            outcome: plan.outcome
        ) { [rows = plan.rows, outcome = plan.outcome] in Self.refusalIfTooLarge(rows, outcome) }
    }

    private struct Plan {
        var info: ResourceInfo
        var rows: [StateChange] = []
        /// The changes to file attributes; empty if there are none.
        var attributes = ResourceAttributes()
        /// The properties that are stored as ``attributes``.
        var ofAttributes: Set<PropertyName> = []
        var outcome: Outcome
    }

    private func plan(_ change: ChangeTarget, _ update: PropertyUpdate) throws(WebDAVError) -> Plan {
        guard let info = change.target.info else { throw WebDAVError(.notFound) }
        var plan = Plan(info: info, outcome: Outcome(results: update.names.map { ($0, .ok) }))
        var refused: [PropertyName: Refusal] = [:]
        for instruction in update.instructions {
            let effect = PropertyEffect(
                instruction, isCollection: info.isCollection, now: change.context.now)
            switch effect {
            case .row: plan.rows.append(Self.row(instruction, at: change.target.path))
            case .executable(let isExecutable): plan.attributes.isExecutable = isExecutable
            case .modified(let time?): plan.attributes.modified = time
            case .modified(nil): break
            case .protected: refused[instruction.name] = .forbidden
            case .unsuitable: refused[instruction.name] = refused[instruction.name] ?? .conflict
            }
            if effect != .row { plan.ofAttributes.insert(instruction.name) }
        }
        guard refused.isEmpty else {
            let outcome = Self.refusal(in: plan.outcome, .cannotModifyProtectedProperty) { refused[$0] }
            return Plan(info: info, outcome: outcome)
        }
        plan.attributes = plan.attributes.unlike(info)
        return plan
    }

    private static func row(_ instruction: PropertyUpdate.Instruction, at path: ResourcePath) -> StateChange {
        switch instruction {
        case .set(let name, let value): .setProperty(path, StoredProperty(name: name, value: value))
        case .remove(let name): .removeProperty(path, name)
        }
    }

    /// The reason why a property is not changed.
    private enum Refusal { case forbidden, conflict, tooLarge }

    /// Returns the outcome if some properties are refused: the others fail with 424 (§9.2.1).
    private static func refusal(
        in outcome: Outcome, _ condition: ErrorBody.Condition?, _ refused: (PropertyName) -> Refusal?
    ) -> Outcome {
        Outcome(
            results: outcome.results.map { name, _ in
                switch refused(name) {
                case .forbidden: (name, .forbidden)
                case .conflict: (name, .conflict)
                case .tooLarge: (name, .insufficientStorage)
                case nil: (name, .failedDependency)
                }
            }, condition: condition)
    }

    /// Returns the outcome if the properties to be set exceed the size limit: 507 for these properties, and 424 for the
    /// others (RFC 4918 §9.2.1).
    private static func refusalIfTooLarge(_ rows: [StateChange], _ outcome: Outcome) -> Outcome {
        var set: Set<PropertyName> = []
        for case .setProperty(_, let property) in rows { set.insert(property.name) }
        return refusal(in: outcome, nil) { set.contains($0) ? .tooLarge : nil }
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        let preferences = ResponsePreferences(change.context.request)
        if preferences.isMinimal, outcome.results.allSatisfy({ $0.status == .ok }) {
            // RFC 8144 §2.2: a minimal response to a successful request has no body.
            var response = HTTPResponse(status: .ok)
            preferences.append(to: &response.fields, result: true)
            return response
        }
        let writer = MultistatusWriter()
        writer.begin()
        writer.beginResponse(
            href: change.context.href, isCollection: change.target.info?.isCollection == true)
        let isTooLarge = outcome.results.contains { $0.status == .insufficientStorage }
        if isTooLarge { share.limitLog.refused("size of the properties of a resource", change.context) }
        for status in [HTTPStatus.ok, .forbidden, .conflict, .insufficientStorage, .failedDependency] {
            guard outcome.results.contains(where: { $0.status == status }) else { continue }
            writer.beginPropStat()
            for result in outcome.results where result.status == status { writer.emptyProperty(result.name) }
            let condition: ErrorBody.Condition? =
                switch status {
                case .forbidden: outcome.condition
                case .insufficientStorage: .quotaNotExceeded
                default: nil
                }
            writer.endPropStat(status: status, condition: condition)
        }
        writer.endResponse()
        writer.end()
        var response = HTTPResponse.multistatus(body: .bytes(writer.drain()))
        preferences.append(to: &response.fields)
        return response
    }
}
