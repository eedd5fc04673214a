internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The current content of a resource in the response to a change.
struct Representation: Sendable {
    let share: Share

    /// Adds the current content of the resource to the response to a change, if the client sent `Prefer:
    /// return=representation`.
    ///
    /// This applies to successful changes with PUT, PATCH and POST (RFC 7240 §4.2), and to failed preconditions of
    /// PUT and PATCH, where it saves the client a GET (RFC 8144 §3.2). Hooks are notified of a download, because
    /// the content may not be what the client sent.
    ///
    /// - Returns: the modified response; the unmodified one if the resource is a collection, cannot be read, or has been
    ///   changed by another client in the meantime.
    func added(to response: HTTPResponse, for request: HTTPRequest) async -> HTTPResponse {
        let preferences = ResponsePreferences(request)
        guard Self.mayBeAdded(to: response, for: request),
            let context = try? RequestContext(request, now: share.now()),
            let path = path(of: response, context)
        else { return response }
        let resources = share.resources
        let resource = try? await share.work.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in try resources.open(path, wait: wait) }
        }
        guard let resource, let content = resource.content else { return response }
        var answer = response
        if response.status == .preconditionFailed {
            answer.fields = HTTPFields()
        } else {
            guard response.fields.first(.etag) == String(decoding: content.head.tag.encoded, as: UTF8.self)
            else { return response }
            if response.status == .noContent { answer.status = .ok }
        }
        answer.fields.appendMissing(content.head.fields)
        let canonical = resource.canonicalPath ?? path
        if let language = try? await share.languages.language(at: canonical, of: resource) {
            answer.fields.append(.contentLanguage, language.description)
        }
        answer.fields.append(.contentLocation, context.href(of: path))
        answer.body = content.file.body(from: 0, length: content.file.length)
        preferences.append(to: &answer.fields, result: true)
        share.configuration.hooks.completed?(
            ShareAction(
                downloadOf: canonical, principal: context.principal, locatedBy: share.configuration.filePath))
        return answer
    }

    /// Whether ``added(to:for:)`` may modify the response.
    static func mayBeAdded(to response: HTTPResponse, for request: HTTPRequest) -> Bool {
        mayHaveRepresentation(response, request.method) && ResponsePreferences(request).wantsRepresentation
    }

    private static func mayHaveRepresentation(_ response: HTTPResponse, _ method: HTTPMethod) -> Bool {
        switch (method, response.status) {
        case (.put, .created), (.put, .noContent), (.patch, .noContent), (.post, .created): true
        case (.put, .preconditionFailed), (.patch, .preconditionFailed): true
        default: false
        }
    }

    /// Returns the path of the changed resource: the target, or for POST the new member.
    private func path(of response: HTTPResponse, _ context: RequestContext) -> ResourcePath? {
        guard context.request.method == .post else { return context.path }
        guard let location = response.fields.first(.location) else { return nil }
        return try? share.urls.path(at: Array(location.utf8), in: context)
    }
}
