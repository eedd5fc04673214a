internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// POST with `?action=`: processes HTML forms. Most actions call the corresponding WebDAV method.
struct ActionMethod: Sendable {
    let share: Share
    let page: (any CollectionPage)?

    func respond(_ action: FormAction, _ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let target = try await checkedCollection(context)
        let results: [FormResult]
        // Held until the response has been sent, because the fields of a large form and the response are in memory until then.
        var slot: ClientSlots.Slot?
        do throws(WebDAVError) {
            var request = ActionRequest(action, context, share: share)
            if action != .upload {
                slot = try await share.largeForms.enter(
                    toReceive: context, limitBytes: request.bodyLimitBytes)
                try await request.readFields()
                // Before the action, so that one that has been performed is not refused.
                if slot == nil, request.estimatedAnswerBytes > ClientSlots.unreservedBytes {
                    slot = try await share.largeForms.enter(for: context)
                }
            }
            if action == .archive { return try await archive(request, target, slot) }
            if let question = try await question(request, target) { return question.holding(slot) }
            results = try await perform(request)
        } catch {
            if error.connectionError != nil { throw error }
            return try await answer(
                .ended(action, status: error.status, []), error.response(), context, target)
        }
        let failure = results.first { !$0.isDone }
        let status = failure?.status ?? results.last?.status ?? .noContent
        let answer = FormOutcome.ended(action, status: status, results)
        return try await self.answer(answer, Self.response(results), context, target).holding(slot)
    }

    /// Performs an action other than `archive`, and returns one result per member, file or trash entry, in the
    /// order of the form.
    private func perform(_ request: ActionRequest) async throws(WebDAVError) -> [FormResult] {
        switch request.action {
        case .upload: return try await UploadForm(share: share, request: request).perform()
        case .mkcol:
            let name = try request.newName()
            return [
                try await request.result(of: name) { () async throws(WebDAVError) in
                    let member = try request.member(name)
                    return try await ChangeCommitter(MkColMethod(share: share), member).run()
                }
            ]
        case .delete:
            return try await request.each { (_, member) async throws(WebDAVError) in
                try await ChangeCommitter(DeleteMethod(share: share), member).run()
            }
        case .move, .copy:
            let transfer = try TransferForm(share: share, request, isMove: request.action == .move)
            return try await request.each { (name, member) async throws(WebDAVError) in
                try await transfer.perform(name, member)
            }
        case .rename:
            guard try request.members().count == 1, let new = context(request, try request.newName()) else {
                throw WebDAVError(.badRequest)
            }
            let transfer = Transfer(to: new, overwrites: request.isTicked("replace"))
            return try await request.each { (_, member) async throws(WebDAVError) in
                if share.urls.isHidden(new) { throw WebDAVError(.forbidden) }
                return try await ChangeCommitter(
                    MoveMethod(share: share, transfer: transfer), member
                ).run()
            }
        case .unlock: return [try await unlock(request)]
        case .restore: return try await restore(request)
        case .purge:
            return try await request.eachTrashed { (entry) async throws(WebDAVError) in
                try await ChangeCommitter(PurgeMethod(share: share, entry: entry), request.context).run()
            }
        case .archive: return []
        }
    }

    private func context(_ request: ActionRequest, _ name: [UInt8]) -> ResourcePath? {
        request.context.path.appending(name)
    }

    /// Returns an archive of the members. The names of those that it does not contain yet are in memory until then, so the
    /// slot of a form with many members is held.
    private func archive(
        _ request: ActionRequest, _ target: ResourcePath, _ slot: ClientSlots.Slot?
    ) async throws(WebDAVError) -> HTTPResponse {
        let names = try request.members()
        guard let page else { throw WebDAVError(.notFound) }
        let visit = PageContext(request.context, target: target, share: share)
        do throws(HTTPError) {
            guard var response = try await page.archive(of: names, visit) else {
                throw HTTPError(.notFound, "Archives are not supported.")
            }
            if let slot, case .stream(let stream) = response.body {
                response.body = .stream(ReservedStream(stream, slot))
            }
            return response
        } catch {
            throw WebDAVError(connection: error)
        }
    }

    /// Breaks a lock. The lock must cover the member that the form specifies or, if it specifies none, the
    /// collection itself.
    private func unlock(_ request: ActionRequest) async throws(WebDAVError) -> FormResult {
        guard let token = request.fields["token"], !token.isEmpty else { throw WebDAVError(.badRequest) }
        let method = BreakLockMethod(
            share: share, lock: share.state.lock(for: LockToken(uri: token), now: request.context.now))
        let isOfMember = request.fields["member"]?.isEmpty == false
        let name = isOfMember ? try request.members()[0] : nil
        return try await request.result(of: name) { () async throws(WebDAVError) in
            let target = try name.map { (name) throws(WebDAVError) in try request.member(name) }
            return try await ChangeCommitter(method, target ?? request.context).run()
        }
    }

    /// Restores trash entries. Each successful result has the status 201 or 204, as for MOVE, and the Location of
    /// the resource.
    private func restore(_ request: ActionRequest) async throws(WebDAVError) -> [FormResult] {
        guard let choice = RestoreConflictPolicy(rawValue: request.fields["taken"] ?? "rename") else {
            throw WebDAVError(.badRequest)
        }
        return try await request.eachTrashed { (entry) async throws(WebDAVError) in
            try await TrashRestoration(share: share).restore(entry, ifTaken: choice, request.context)
        }
    }

    // MARK: The collection

    /// Looks up the collection to which the form was sent, and evaluates the preconditions of the request on it.
    /// - Returns: the canonical path of the collection.
    private func checkedCollection(_ context: RequestContext) async throws(WebDAVError) -> ResourcePath {
        let share = share
        return try await share.work.attempt { wait throws(WebDAVError) in
            let lookup = try storing { () throws(StoreError) in
                try share.lookup.resource(at: context.path, wait: wait)
            }
            guard let info = lookup.info else { throw WebDAVError(.notFound) }
            guard info.isCollection else {
                throw share.methodNotAllowed(AllowedMethods.content, at: lookup, context)
            }
            let check = WriteGuard(share: share, context: context, wait: wait)
            try check.checkPreconditions(target: info)
            try check.checkIf(target: info, path: lookup.path)
            return lookup.path
        }
    }

    // MARK: Response

    /// Returns a page that asks the user for confirmation or for a destination; nil if the form is complete or the
    /// client is not a browser.
    /// - Throws: 403 if the client has no right to perform the action on any of the members.
    private func question(
        _ request: ActionRequest, _ target: ResourcePath
    ) async throws(WebDAVError) -> HTTPResponse? {
        guard let page, request.context.request.wantsHTML else { return nil }
        let isAnswered =
            request.action.wantsDestination
            ? TransferForm.isComplete(request)
            : !request.action.wantsQuestion || request.isTicked("confirmed")
        if isAnswered { return nil }
        let members = try request.members()
        let visit = PageContext(request.context, target: target, share: share)
        guard visit.mayPerform(request.action, onAnyOf: members) else { throw WebDAVError(.forbidden) }
        let question = FormOutcome.asks(request.action, members: members)
        do throws(HTTPError) {
            return try await page.response(to: question, on: visit)
        } catch {
            throw WebDAVError(connection: error)
        }
    }

    /// Returns a page or a redirect to the collection for browsers, and the WebDAV response for other
    /// clients.
    private func answer(
        _ answer: FormOutcome, _ plain: HTTPResponse, _ context: RequestContext, _ target: ResourcePath
    ) async throws(WebDAVError) -> HTTPResponse {
        guard context.request.wantsHTML else { return plain }
        let visit = PageContext(context, target: target, share: share)
        do throws(HTTPError) {
            if let response = try await page?.response(to: answer, on: visit) { return response }
        } catch {
            throw WebDAVError(connection: error)
        }
        guard case .ended(let action, _, let results) = answer, !results.isEmpty,
            results.allSatisfy(\.isDone)
        else { return plain }
        return Self.back(to: visit.href, action, results)
    }

    /// The maximum number of trash ids in the URL of a redirect.
    private static let limitKept = 100

    /// Returns a redirect to the collection (303). The query contains the action and the number of members rather than a
    /// message, because anyone could forge a URL with a message. After a deletion, it also contains the ids of the trash
    /// entries, unless there are more than ``limitKept``.
    private static func back(
        to href: [UInt8], _ action: FormAction, _ results: [FormResult]
    ) -> HTTPResponse {
        var query = "?done=\(action.rawValue)&count=\(results.count)"
        let kept = action == .delete ? results.flatMap(\.kept) : []
        if 1...limitKept ~= kept.count { query += "&kept=" + kept.joined(separator: ",") }
        var response = HTTPResponse(status: .seeOther)
        response.fields.append(.location, href + Array(query.utf8))
        return response
    }

    /// Returns the response for clients other than browsers: for a single result, that of the method; for several
    /// results, 204 if all of them are 204, otherwise 207 (RFC 4918 §13), whose hrefs report the names of uploaded files.
    private static func response(_ results: [FormResult]) -> HTTPResponse {
        if results.count == 1, let response = results[0].response { return response }
        if results.allSatisfy({ $0.status == .noContent }) { return HTTPResponse(status: .noContent) }
        let writer = MultistatusWriter()
        writer.begin()
        for result in results {
            writer.beginResponse(href: result.href)
            writer.responseStatus(result.status == .multistatus ? .failedDependency : result.status)
            writer.endResponse()
        }
        writer.end()
        return .multistatus(body: .bytes(writer.drain()))
    }
}

extension HTTPResponse {
    /// Returns the same response, which holds the slot of a large form until most of it has been sent.
    fileprivate func holding(_ slot: ClientSlots.Slot?) -> HTTPResponse {
        guard let slot, case .bytes(let bytes) = body, bytes.count > ClientSlots.unreservedBytes else {
            return self
        }
        var response = self
        response.body = .stream(LargeBody(bytes, slot))
        return response
    }
}

extension PageContext {
    /// Whether the client has the right to perform an action on any of these members, which need not exist.
    fileprivate func mayPerform(_ action: FormAction, onAnyOf members: [[UInt8]]) -> Bool {
        let isSufficient: (ClientRights) -> Bool
        switch action {
        case .delete: isSufficient = \.mayDelete
        case .move: isSufficient = \.mayMove
        case .copy: isSufficient = \.mayRead
        case .upload, .mkcol, .rename, .unlock, .restore, .purge, .archive: return true
        }
        if isSufficient(rights.inherited) { return true }
        return hasRights && members.contains { isSufficient(rights(ofMember: $0, isCollection: false)) }
    }
}

extension ActionRequest {
    /// Runs `body` for each member that the form specifies, even if it fails for some of them. Stops if the client has
    /// disconnected.
    /// - Throws: 400 if the form specifies no member; connection errors.
    func each(
        _ body: (_ name: [UInt8], _ member: RequestContext) async throws(WebDAVError) -> HTTPResponse
    ) async throws(WebDAVError) -> [FormResult] {
        var results: [FormResult] = []
        for name in try members() {
            try checkConnection()
            results.add(
                try await result(of: name) { () async throws(WebDAVError) in
                    try await body(name, try member(name))
                })
        }
        return results
    }

    /// Runs `body` for each trash entry that the form specifies in `id` fields, even if it fails for some of them. Stops if
    /// the client has disconnected.
    /// - Throws: 400 if there are no `id` fields; 404, before `body` is called, if an entry does not exist; connection
    ///   errors.
    func eachTrashed(
        _ body: (TrashEntry) async throws(WebDAVError) -> HTTPResponse
    ) async throws(WebDAVError) -> [FormResult] {
        let restoration = TrashRestoration(share: share)
        let ids = fields.all("id").withoutDuplicates()
        if ids.isEmpty { throw WebDAVError(.badRequest) }
        // All entries together could be too large for the memory.
        for id in ids {
            try checkConnection()
            _ = try await restoration.entry(id)
        }
        var results: [FormResult] = []
        for id in ids {
            try checkConnection()
            var entry: TrashEntry?
            do throws(WebDAVError) { entry = try await restoration.entry(id) } catch {
                // It has been restored or removed in the meantime.
                results.add(try await result(of: nil) { () async throws(WebDAVError) in throw error })
            }
            guard let entry else { continue }
            results.add(
                try await result(of: Array(entry.path.name)) { () async throws(WebDAVError) in
                    try await body(entry)
                })
        }
        return results
    }

    /// - Throws: ``HTTPError/disconnected`` if the client has disconnected, so that no one waits for the rest of the form.
    private func checkConnection() throws(WebDAVError) {
        if Task.isCancelled { throw WebDAVError(connection: .disconnected) }
    }

    /// Runs `body` and returns the result for one member, or for the collection itself if `name` is nil.
    /// - Throws: connection errors, after which no response can be sent. Any other error becomes the result.
    func result(
        of name: [UInt8]?, _ body: () async throws(WebDAVError) -> HTTPResponse
    ) async throws(WebDAVError) -> FormResult {
        let response: HTTPResponse
        do throws(WebDAVError) { response = try await body() } catch {
            if error.connectionError != nil { throw error }
            response = error.response()
        }
        var href = context.collectionHref(of: context.path)
        if let name { PercentCoding.append(name, to: &href) }
        if let location = response.fields.first(.location) { href = Array(location.utf8) }
        return FormResult(name: name, status: response.status, href: href, response: response)
    }
}
