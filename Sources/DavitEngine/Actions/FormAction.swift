public import DavitHTTP

/// What a form asks a collection to do: the value of `action` in the query of a POST.
///
/// Everything that changes something is what a method of WebDAV does, in the words of HTML. Members are named in
/// fields `member`, as percent-encoded segments, because names need not be text; new names stand in `name`, as typed.
public enum FormAction: String, CaseIterable, Sendable {
    /// PUT of each file of a `multipart/form-data`, as it comes. A name that is taken gets a number, unless a field
    /// `replace` before the files, or in the query, says `yes`.
    case upload
    /// MKCOL of `name`.
    case mkcol
    /// DELETE of each `member`.
    case delete
    /// MOVE of each `member`, to the collection that `to` names; see ``TransferForm``.
    case move
    /// COPY of each `member` in the same way.
    case copy
    /// MOVE of the one `member` to `name` beside it.
    case rename
    /// Ends the lock with the URI `token` that is on `member`, or on the collection itself without one, whoever holds it.
    case unlock
    /// Each `id` comes back from the trash; `taken` says what happens where its name is.
    case restore
    /// Each `id` goes from the trash, for good.
    case purge
    /// GET of the collection as an archive, with each `member` and nothing else: for more of them than a URL can hold.
    case archive

    /// Whether it leaves everything as it is.
    var isReading: Bool { self == .archive }

    /// Whether a person is asked before it is done, unless the form says that it was: `confirmed=yes`.
    var wantsQuestion: Bool {
        switch self {
        case .delete, .unlock, .purge: true
        case .upload, .mkcol, .move, .copy, .rename, .restore, .archive: false
        }
    }

    /// Whether a person is asked where to, unless the form says it.
    var wantsDestination: Bool {
        switch self {
        case .move, .copy: true
        case .upload, .mkcol, .delete, .rename, .unlock, .restore, .purge, .archive: false
        }
    }
}

/// What a form came to, or what has to be asked first, for who makes a page of it.
public enum FormAnswer {
    /// Nothing was done: who sent the form is to be asked, and sends it again, with `confirmed`, or with `to`.
    case asks(FormAction, members: [[UInt8]])
    /// All of it was done that could be. The results are in the order of the form; none for a form that was refused as a
    /// whole, with that status.
    case ended(FormAction, status: HTTPStatus, [FormResult])
}

/// What became of one member that a form is about.
public struct FormResult {
    /// As the form named it; nil for the collection itself.
    public let name: [UInt8]?
    /// As the method of WebDAV would be answered that does the same.
    public let status: HTTPStatus
    /// Where it is now, or was, for this client; percent-encoded.
    public let href: [UInt8]
    /// What WebDAV answers, for programs.
    let response: HTTPResponse

    /// The ids of what the trash keeps of it; see `Davit-Trash`.
    public var kept: [String] {
        response.fields.first(.davitTrash).map { $0.split(separator: ", ").map(String.init) } ?? []
    }

    /// Whether all of it was done: a 207 says what was not.
    public var isDone: Bool { status.code < 300 && status != .multistatus }
}
