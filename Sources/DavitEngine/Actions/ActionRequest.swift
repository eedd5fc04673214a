internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A form that was sent to a collection.
///
/// Forms carry no token of their own: a browser says whose page a form is on, and who sends neither Sec-Fetch-Site nor
/// Origin is no browser, and can use the methods of WebDAV.
struct ActionRequest {
    /// Bytes of a form without files; over it 413.
    private static let limitBytes = 4 << 20
    /// Fields of one form; over it 413.
    private static let limitFields = 100_000
    /// Bytes of one field beside files.
    static let limitFieldBytes = 64 << 10

    let share: Share
    /// Of the collection.
    let context: RequestContext
    let action: FormAction
    /// What stands in the query, for what goes with files.
    let query: FormFields
    /// Of a form without files; empty for one that is read part by part.
    private(set) var fields = FormFields()

    /// The action that a request names; nil if it is not for one.
    /// - Throws: 404 for one that does not exist, 403 unless a page of this server has sent it.
    static func action(of context: RequestContext, share: Share) throws(WebDAVError) -> FormAction? {
        guard let name = context.request.query["action"] else { return nil }
        guard let action = FormAction(rawValue: name) else { throw WebDAVError(.notFound) }
        guard context.request.site(names: share.serverNames) == .own else { throw WebDAVError(.forbidden) }
        return action
    }

    init(_ action: FormAction, _ context: RequestContext, share: Share) {
        self.share = share
        self.action = action
        self.context = context
        query = context.request.query
    }

    /// Reads the fields of a form without files.
    /// - Throws: 400, 413 and 415.
    mutating func readFields() async throws(WebDAVError) {
        if context.request.contentType?.essence == "multipart/form-data" {
            fields = try await readParts()
            return
        }
        do throws(HTTPError) {
            guard context.request.contentType?.essence == "application/x-www-form-urlencoded" else {
                throw HTTPError(.unsupportedMediaType, "a form is expected here")
            }
            let bytes = try await context.request.content(limitBytes: Self.limitBytes)
            do throws(FormFields.ParseError) {
                fields = try FormFields(parsing: bytes, limitFields: Self.limitFields)
            } catch {
                throw HTTPError(.badRequest, "the form is malformed")
            }
        } catch {
            throw WebDAVError(error.status)
        }
    }

    /// The same of a form that was sent as if it had files.
    private func readParts() async throws(WebDAVError) -> FormFields {
        let parts = try FormParts(of: context.request)
        var read: [FormFields.Field] = []
        var bytes = 0
        while let (head, content) = try await parts.next() {
            if head.fileName != nil { continue }
            let value = try await parts.text(content, limitBytes: Self.limitFieldBytes)
            read.append(.init(name: head.name, value: value))
            bytes += head.name.utf8.count + value.utf8.count
            if bytes > Self.limitBytes || read.count > Self.limitFields {
                throw WebDAVError(.contentTooLarge)
            }
        }
        return FormFields(read)
    }

    /// Whether a box of the form is ticked.
    func isTicked(_ name: String) -> Bool { fields[name] == "yes" }

    /// The members that the form names.
    /// - Throws: 400 for what cannot be a name, and for none at all.
    func members() throws(WebDAVError) -> [[UInt8]] {
        var members: [[UInt8]] = []
        for value in fields.all("member") {
            guard let name = PercentCoding.decode(Array(value.utf8)), context.path.appending(name) != nil
            else { throw WebDAVError(.badRequest) }
            members.append(name)
        }
        if members.isEmpty { throw WebDAVError(.badRequest) }
        return members
    }

    /// The name that was typed for something new.
    /// - Throws: 400 for what cannot be a name.
    func newName() throws(WebDAVError) -> [UInt8] {
        let name = Array((fields["name"] ?? "").utf8)
        guard context.path.appending(name) != nil, !name.contains(where: \.isControl) else {
            throw WebDAVError(.badRequest)
        }
        return name
    }

    /// The request as if it were about a member of the collection.
    /// - Throws: 400 for what cannot be a name, 404 where something else is mounted.
    func member(
        _ name: some Collection<UInt8>, content: any RequestBody = EmptyRequestBody.shared
    ) throws(WebDAVError) -> RequestContext {
        guard let path = context.path.appending(name) else { throw WebDAVError(.badRequest) }
        if share.hides(path) { throw WebDAVError(.notFound) }
        return context.member(path, content: content)
    }

    /// The request as if it were about the collection itself, with the content of a new member.
    func collection(content: any RequestBody) -> RequestContext {
        context.member(context.path, content: content)
    }
}
