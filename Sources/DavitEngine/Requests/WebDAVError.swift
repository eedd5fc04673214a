internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A refused request: a status, optionally a condition of RFC 4918 §16, and optionally header fields.
struct WebDAVError: Error {
    /// What most errors do not have. Stored elsewhere, so that an error is small where it is thrown.
    private struct Details {
        var condition: ErrorBody.Condition?
        var fields = HTTPFields()
        var content: (type: StaticString, bytes: [UInt8])?
        var connectionError: HTTPError?
        var failure: String?
    }

    private indirect enum Storage {
        case details(Details)
    }

    var status: HTTPStatus
    private var storage: Storage?
    /// Not a failure: the call must be repeated on a thread that may block.
    var wouldBlock = false
    /// The resource to be created exists, or was created after it was looked up. The request can be retried
    /// with a new lookup or another name.
    var lostRace = false

    private var details: Details {
        get { if case .details(let details) = storage { details } else { Details() } }
        set { storage = .details(newValue) }
    }

    /// The condition that failed (RFC 4918 §16), if any.
    var condition: ErrorBody.Condition? { details.condition }
    /// The fields of the response.
    var fields: HTTPFields {
        get { details.fields }
        set { details.fields = newValue }
    }
    /// The body of the response, in place of a condition or a line of text.
    var content: (type: StaticString, bytes: [UInt8])? {
        get { details.content }
        set { details.content = newValue }
    }
    /// Set if the connection itself failed; this error is rethrown to the transport.
    var connectionError: HTTPError? { details.connectionError }
    /// Why the server failed, for the log; nil for errors that the client can understand.
    var failure: String? { details.failure }

    init(_ status: HTTPStatus, _ condition: ErrorBody.Condition? = nil) {
        self.status = status
        if let condition { details.condition = condition }
    }

    init(connection error: HTTPError) {
        status = error.status
        details.connectionError = error
    }

    /// 503 with Retry-After: too much work is waiting, a concurrent change interferes, or the task was
    /// cancelled (RFC 9110 §15.6.4).
    static let busy: WebDAVError = {
        var error = WebDAVError(.serviceUnavailable)
        error.fields.append(.retryAfter, 1)
        return error
    }()

    /// 503 with Retry-After: the comparison of the share with the file system is still running (RFC 9110
    /// §15.6.4).
    static let notCompared: WebDAVError = {
        var error = WebDAVError(.serviceUnavailable)
        error.fields.append(.retryAfter, 5)
        return error
    }()

    /// 403: collections would be nested deeper than ``ShareConfiguration/maximumDepth``.
    static let tooDeep: WebDAVError = {
        var error = WebDAVError(.forbidden)
        let text = "403 Forbidden: folders would be nested deeper than this share allows.\n"
        error.content = ("text/plain; charset=utf-8", Array(text.utf8))
        return error
    }()

    /// 415: the content would be stored without the Content-Encoding that describes it (RFC 9110 §15.5.16).
    static let codedContent: WebDAVError = {
        var error = WebDAVError(.unsupportedMediaType)
        error.fields.append(.acceptEncoding, "identity")
        return error
    }()

    /// 405 with Allow, which RFC 9110 §15.5.6 requires.
    static func methodNotAllowed(_ allowed: StaticString) -> WebDAVError {
        var error = WebDAVError(.methodNotAllowed)
        error.fields.append(.allow, allowed)
        return error
    }
}

extension WebDAVError {
    /// Converts a store error that a method does not handle itself.
    init(store error: StoreError) {
        switch error {
        case .wouldBlock:
            self = .busy
            wouldBlock = true
        case .busy, .rightsChanged: self = .busy
        case .notFound, .loop: self.init(.notFound)
        case .missingAncestor: self.init(.conflict)
        case .alreadyExists:
            self.init(.preconditionFailed)
            lostRace = true
        case .wrongKind: self.init(.conflict)
        case .forbidden: self.init(.forbidden)
        case .tooDeep: self = .tooDeep
        case .outOfSpace: self.init(.insufficientStorage, .sufficientDiskSpace)
        case .quotaExceeded: self.init(.insufficientStorage, .quotaNotExceeded)
        case .invalidName: self.init(.badRequest)
        // Finder reports this status to the user as a name that is too long.
        case .nameTooLong: self.init(.uriTooLong)
        case .crossVolume: self.init(.badGateway)
        case .superseded: self.init(.conflict)
        case .failed(let reason):
            self.init(.internalServerError)
            details.failure = reason
        }
    }

    /// Converts a store error for methods that only read: a resource whose name is too long does not exist, nor does one
    /// that was removed, or replaced by one of another kind, after it was found.
    init(reading error: StoreError) {
        switch error {
        case .nameTooLong, .missingAncestor, .wrongKind: self.init(.notFound)
        default: self.init(store: error)
        }
    }

    /// Converts the error of a unit of calls of the stores.
    init(session error: StoreSessionError) {
        switch error {
        case .conflict: self = .busy
        case .failed(let error): self.init(store: error)
        }
    }

    init(state error: StateError) { self.init(store: StoreError(error)) }

    init(journal error: JournalError) {
        switch error {
        case .interrupted: self = .busy
        case .gone: self.init(.notFound)
        case .forgotten: self.init(.forbidden, .validSyncToken)
        case .store(let error): self.init(store: error)
        case .state(let error): self.init(state: error)
        }
    }

    init(body error: BodyError) {
        switch error {
        case .malformed: self.init(.badRequest)
        case .externalEntity: self.init(.forbidden, .noExternalEntities)
        case .notThis: self.init(.unprocessableContent)
        }
    }
}
