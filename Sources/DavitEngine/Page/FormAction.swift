public import DavitHTTP

/// An action that a form requests on a collection: the value of `action` in the query of a POST.
///
/// Each action that changes something corresponds to a WebDAV method. The `member` fields contain names as
/// percent-encoded segments, because names need not be valid UTF-8; `name` contains a new name as entered.
public enum FormAction: String, CaseIterable, Sendable {
    /// PUT of each file in a `multipart/form-data` body. If a name is in use, a number is appended to it,
    /// unless `replace` has the value `yes`, in the query or in a field that precedes the files.
    case upload
    /// MKCOL of `name`.
    case mkcol
    /// DELETE of each `member`.
    case delete
    /// MOVE of each `member` to the collection in `to` or `destination`; see ``TransferForm``.
    case move
    /// COPY of each `member` to the collection in `to` or `destination`; see ``TransferForm``.
    case copy
    /// MOVE of the only `member` to `name` in the same collection.
    case rename
    /// Ends the lock with the token URI `token` on `member`, or on the collection itself if there is no
    /// `member`, regardless of its owner.
    case unlock
    /// Restores each `id` from the trash; `taken` specifies what to do if the original name is in use.
    case restore
    /// Permanently deletes each `id` from the trash.
    case purge
    /// Downloads the given members as an archive, like GET, but with more members than fit in a URL.
    case archive

    /// Whether the action changes nothing.
    var isReading: Bool { self == .archive }

    /// Whether a user of a browser must confirm the action: the form must contain `confirmed=yes`.
    var wantsQuestion: Bool {
        switch self {
        case .delete, .unlock, .purge: true
        case .upload, .mkcol, .move, .copy, .rename, .restore, .archive: false
        }
    }

    /// Whether the action requires a destination, which the user is asked for if the form does not contain
    /// one.
    var wantsDestination: Bool {
        switch self {
        case .move, .copy: true
        case .upload, .mkcol, .delete, .rename, .unlock, .restore, .purge, .archive: false
        }
    }
}

/// The outcome of a form, or a question to the user. The page is generated from it.
public enum FormOutcome {
    /// Nothing was done: the user is asked to submit the form again, with `confirmed` or with `to`.
    case asks(FormAction, members: [[UInt8]])
    /// The form was processed. The results are in the order of the form; there are none if the form was
    /// refused as a whole with `status`.
    case ended(FormAction, status: HTTPStatus, [FormResult])
}

/// The outcome for one member that a form specifies.
public struct FormResult {
    /// The name of the member or, for a trash entry, its original name; nil for the collection itself.
    public let name: [UInt8]?
    /// The status of the corresponding WebDAV method.
    public let status: HTTPStatus
    /// The current or former href of the member for this client, percent-encoded.
    public let href: [UInt8]
    /// The WebDAV response, for clients other than browsers; nil if there are several results, which are reported together.
    private(set) var response: HTTPResponse?
    private var keptWithoutResponse: [String] = []

    init(name: [UInt8]?, status: HTTPStatus, href: [UInt8], response: HTTPResponse) {
        self.name = name
        self.status = status
        self.href = href
        self.response = response
    }

    /// The ids of the trash entries of the member or of the resource that it replaced; see `Davit-Trash`.
    public var kept: [String] {
        guard let response else { return keptWithoutResponse }
        return response.fields.first(.davitTrash).map { $0.split(separator: ", ").map(String.init) } ?? []
    }

    /// Releases the memory of the response.
    mutating func dropResponse() {
        keptWithoutResponse = kept
        response = nil
    }

    /// Whether the action succeeded completely; a 207 response reports failures.
    public var isDone: Bool { status.code < 300 && status != .multistatus }
}

extension [FormResult] {
    /// Adds a result. If there are several, only their statuses are sent, and not the responses.
    mutating func add(_ result: FormResult) {
        append(result)
        guard count > 1 else { return }
        if count == 2 { self[0].dropResponse() }
        self[count - 1].dropResponse()
    }
}
