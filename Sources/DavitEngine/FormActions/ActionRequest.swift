internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A form that was sent to a collection.
///
/// Forms contain no CSRF token. Browsers send Sec-Fetch-Site or Origin, which show whether a page of this server sent
/// the form. Clients that send neither field are refused; they are not browsers and can use the WebDAV methods.
struct ActionRequest {
    /// The maximum size in bytes of a form without files; larger forms are refused with 413.
    private static let limitBytes = 4 << 20
    /// The maximum number of fields in a form; more are refused with 413.
    private static let limitFields = 100_000
    /// The maximum size in bytes of a field in a form that is sent as `multipart/form-data`.
    static let limitFieldBytes = 64 << 10

    let share: Share
    /// The context of the request to the collection.
    let context: RequestContext
    let action: FormAction
    /// The fields in the query of the request; forms with files send some fields there.
    let query: FormFields
    /// The fields of a form without files; empty for a form with files, which ``UploadForm`` reads part by part.
    private(set) var fields = FormFields()

    /// Returns the action that a request specifies; nil if it specifies none.
    /// - Throws: 404 for an unknown action; 403 if the form was not sent by a page of this server.
    static func action(of context: RequestContext, share: Share) throws(WebDAVError) -> FormAction? {
        guard let name = context.request.query["action"] else { return nil }
        guard let action = FormAction(rawValue: name) else { throw WebDAVError(.notFound) }
        guard context.request.site(names: share.origins.serverNames) == .own else {
            throw WebDAVError(.forbidden)
        }
        return action
    }

    init(_ action: FormAction, _ context: RequestContext, share: Share) {
        self.share = share
        self.action = action
        self.context = context
        query = context.request.query
    }

    /// The maximum size in bytes of the body of a form without files. That of a form that is sent as `multipart/form-data` is
    /// only limited by the number and size of its fields.
    var bodyLimitBytes: Int {
        context.request.contentType?.essence == "multipart/form-data" ? .max : Self.limitBytes
    }

    /// Reads the fields of a form without files.
    /// - Throws: 400, 413 or 415.
    mutating func readFields() async throws(WebDAVError) {
        if context.request.contentType?.essence == "multipart/form-data" {
            fields = try await readParts()
            return
        }
        guard context.request.contentType?.essence == "application/x-www-form-urlencoded" else {
            throw WebDAVError(.unsupportedMediaType)
        }
        let bytes: [UInt8]
        do throws(HTTPError) {
            bytes = try await context.request.content(limitBytes: Self.limitBytes)
        } catch {
            if error.status == .contentTooLarge { throw WebDAVError(.contentTooLarge) }
            throw WebDAVError(connection: error)
        }
        do throws(FormFields.ParseError) {
            fields = try FormFields(parsing: bytes, limitFields: Self.limitFields)
        } catch {
            if case .tooManyFields = error { throw WebDAVError(.contentTooLarge) }
            throw WebDAVError(.badRequest)
        }
    }

    /// Reads the fields of a form without files that was sent as `multipart/form-data`.
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

    /// Whether a checkbox of the form is checked.
    func isTicked(_ name: String) -> Bool { fields[name] == "yes" }

    /// The approximate size in bytes of a response that lists the members or trash entries of the form.
    var estimatedAnswerBytes: Int {
        // The markup around a name, which occurs as text and percent-encoded in an href. The names of trash entries are unknown.
        let markup = 128 + context.href.count
        return fields.all("member").reduce(0) { $0 + markup + 3 * $1.utf8.count }
            + fields.all("id").count * (markup + 512)
    }

    /// Returns the names of the members that the form specifies, each once.
    /// - Throws: 400 for an invalid name, or if there are no members.
    func members() throws(WebDAVError) -> [[UInt8]] {
        var members: [[UInt8]] = []
        for value in fields.all("member") {
            guard let name = PercentCoding.decode(Array(value.utf8)), context.path.appending(name) != nil
            else { throw WebDAVError(.badRequest) }
            members.append(name)
        }
        if members.isEmpty { throw WebDAVError(.badRequest) }
        return members.withoutDuplicates()
    }

    /// Returns the name that the user entered for a new or renamed member.
    /// - Throws: 400 for an invalid name.
    func newName() throws(WebDAVError) -> [UInt8] {
        let name = Array((fields["name"] ?? "").utf8)
        guard context.path.appending(name) != nil, !name.contains(where: \.isControl) else {
            throw WebDAVError(.badRequest)
        }
        return name
    }

    /// Returns the context of the request as if it had been sent to a member of the collection.
    /// - Throws: 400 for an invalid name; 404 if the path belongs to another mount.
    func member(
        _ name: some Collection<UInt8>, content: any RequestBody = EmptyRequestBody.shared
    ) throws(WebDAVError) -> RequestContext {
        guard let path = context.path.appending(name) else { throw WebDAVError(.badRequest) }
        if share.urls.isHidden(path) { throw WebDAVError(.notFound) }
        return context.member(path, content: content)
    }

    /// Returns the context of the request to the collection, with the content of a new member as its body.
    func collection(content: any RequestBody) -> RequestContext {
        context.member(context.path, content: content)
    }
}

extension Array where Element: Hashable {
    /// Returns the elements in the order in which they first occur, each once.
    func withoutDuplicates() -> [Element] {
        if count < 2 { return self }
        var seen: Set<Element> = []
        seen.reserveCapacity(count)
        return filter { seen.insert($0).inserted }
    }
}
