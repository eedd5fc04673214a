internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// PROPPATCH (RFC 4918 §9.2): all instructions in document order, or none.
struct PropPatchMethod: ChangeMethod {
    struct Outcome: Sendable {
        /// One entry for each property named, in document order, each name once.
        var results: [(name: PropertyName, status: HTTPStatus)]
    }

    let share: Share

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        guard let info = scene.target.info else { throw WebDAVError(.notFound) }
        if !info.isCollection && scene.context.endsInSlash { throw WebDAVError(.notFound) }
        return [.write(scene.target.path)]
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { nil }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> PropertyUpdate {
        let bytes = try await scene.context.request.wholeBody(limitBytes: share.configuration.bodyLimitBytes)
        return try parsing { () throws(BodyError) in try PropertyUpdate.parse(bytes) }
    }

    var mayChangeRowsOnly: Bool { true }

    func commit(_ scene: Scene, _ update: PropertyUpdate, guard: WriteGuard) throws(WebDAVError) -> Outcome {
        let plan = try plan(scene, update)
        try storing { () throws(StoreError) in
            try share.patch(scene.target.path, plan.info, rows: plan.rows, executable: plan.executable)
        }
        return plan.outcome
    }

    func rowChange(
        _ scene: Scene, _ update: PropertyUpdate, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? {
        let plan = try plan(scene, update)
        guard plan.executable == nil else { return nil }
        return RowChange(
            rows: Share.patch(of: scene.target.path, plan.info, plan.rows), outcome: plan.outcome)
    }

    private struct Plan {
        var info: ResourceInfo
        var rows: [StateChange] = []
        /// What the execute bits become; nil if they stay.
        var executable: Bool?
        var outcome: Outcome
    }

    private func plan(_ scene: Scene, _ update: PropertyUpdate) throws(WebDAVError) -> Plan {
        guard let info = scene.target.info else { throw WebDAVError(.notFound) }
        let names = Self.names(in: update)
        let refused = Set(names.filter { Self.refusal(of: $0, in: update, info: info) })
        guard refused.isEmpty else {
            let results: [(PropertyName, HTTPStatus)] = names.map {
                ($0, refused.contains($0) ? .forbidden : .failedDependency)
            }
            return Plan(info: info, outcome: Outcome(results: results))
        }
        var plan = Plan(info: info, outcome: Outcome(results: names.map { ($0, .ok) }))
        let path = scene.target.path
        for instruction in update.instructions {
            if LiveProperty(instruction.name) != nil {
                plan.executable = Self.executableValue(instruction)
                continue
            }
            switch instruction {
            case .set(let name, let value):
                plan.rows.append(.setProperty(path, StoredProperty(name: name, value: value)))
            case .remove(let name): plan.rows.append(.removeProperty(path, name))
            }
        }
        if plan.executable == info.isExecutable { plan.executable = nil }
        return plan
    }

    private static func names(in update: PropertyUpdate) -> [PropertyName] {
        var seen: Set<PropertyName> = []
        return update.instructions.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Live properties are protected (§15), but for `executable`, which takes T and F on content.
    private static func refusal(
        of name: PropertyName, in update: PropertyUpdate, info: ResourceInfo
    ) -> Bool {
        guard let live = LiveProperty(name) else { return false }
        guard live == .executable, !info.isCollection else { return true }
        return !update.instructions.allSatisfy { $0.name != name || executableValue($0) != nil }
    }

    private static func executableValue(_ instruction: PropertyUpdate.Instruction) -> Bool? {
        guard case .set(_, let value) = instruction else { return nil }
        switch value.text {
        case "T": return true
        case "F": return false
        default: return nil
        }
    }

    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        let writer = MultistatusWriter()
        writer.begin()
        writer.beginResponse(
            href: scene.context.href, isCollection: scene.target.info?.isCollection == true)
        for status in [HTTPStatus.ok, .forbidden, .failedDependency] {
            let names = outcome.results.filter { $0.status == status }.map(\.name)
            guard !names.isEmpty else { continue }
            writer.beginPropStat()
            for name in names { writer.emptyProperty(name) }
            writer.endPropStat(
                status: status, condition: status == .forbidden ? .cannotModifyProtectedProperty : nil)
        }
        writer.endResponse()
        writer.end()
        return .multistatus(body: .bytes(writer.drain()))
    }
}
