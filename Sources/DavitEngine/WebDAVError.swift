internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A request that is refused: a status, perhaps a condition of RFC 4918 §16, perhaps fields.
struct WebDAVError: Error {
    var status: HTTPStatus
    var condition: ErrorBody.Condition?
    var fields = HTTPFields()
    /// What the answer says instead of a condition or a line of text.
    var content: (type: StaticString, bytes: [UInt8])?
    /// Set where the connection itself failed; it is thrown on to the transport.
    var connectionError: HTTPError?
    /// Nothing is wrong: the call has to be made where it may wait.
    var wouldBlock = false
    /// Somebody behind the server's back has made what was free a moment ago: worth looking again.
    var isOvertaken = false

    init(_ status: HTTPStatus, _ condition: ErrorBody.Condition? = nil) {
        self.status = status
        self.condition = condition
    }

    init(connection error: HTTPError) {
        status = error.status
        connectionError = error
    }

    /// Too much is waiting; the client may try again (RFC 9110 §15.6.4).
    static let busy: WebDAVError = {
        var error = WebDAVError(.serviceUnavailable)
        error.fields.append(.retryAfter, 1)
        return error
    }()

    /// What is asked for is being compared with the disk, which takes a while (RFC 9110 §15.6.4).
    static let notCompared: WebDAVError = {
        var error = WebDAVError(.serviceUnavailable)
        error.fields.append(.retryAfter, 5)
        return error
    }()

    /// Folders would be nested deeper than ``ShareConfiguration/maximumDepth``.
    static let tooDeep: WebDAVError = {
        var error = WebDAVError(.forbidden)
        let text = "403 Forbidden: folders would be nested deeper than this share allows.\n"
        error.content = ("text/plain; charset=utf-8", Array(text.utf8))
        return error
    }()

    /// Coded content would be stored as something that the field then no longer names (RFC 9110 §15.5.16).
    static let codedContent: WebDAVError = {
        var error = WebDAVError(.unsupportedMediaType)
        error.fields.append(.acceptEncoding, "identity")
        return error
    }()

    /// RFC 9110 §15.5.6: 405 always says what is allowed.
    static func methodNotAllowed(_ allowed: StaticString) -> WebDAVError {
        var error = WebDAVError(.methodNotAllowed)
        error.fields.append(.allow, allowed)
        return error
    }
}

extension WebDAVError {
    /// The status of a store error where the method has no other reading of it.
    init(store error: StoreError) {
        switch error {
        case .wouldBlock:
            self = .busy
            wouldBlock = true
        case .busy: self = .busy
        case .notFound, .loop: self.init(.notFound)
        case .missingAncestor: self.init(.conflict)
        case .alreadyExists:
            self.init(.preconditionFailed)
            isOvertaken = true
        case .wrongKind: self.init(.conflict)
        case .forbidden: self.init(.forbidden)
        case .tooDeep: self = .tooDeep
        case .outOfSpace: self.init(.insufficientStorage, .sufficientDiskSpace)
        case .quotaExceeded: self.init(.insufficientStorage, .quotaNotExceeded)
        case .invalidName: self.init(.badRequest)
        // Finder tells its user that the name is too long.
        case .nameTooLong: self.init(.uriTooLong)
        case .crossVolume: self.init(.badGateway)
        case .failed: self.init(.internalServerError)
        }
    }

    /// The same for who only reads: a name that cannot be is the name of nothing.
    init(reading error: StoreError) {
        switch error {
        case .nameTooLong: self.init(.notFound)
        default: self.init(store: error)
        }
    }

    init(state error: StateError) {
        switch error {
        case .outOfSpace: self.init(.insufficientStorage, .sufficientDiskSpace)
        case .propertiesTooLarge: self.init(.insufficientStorage, .quotaNotExceeded)
        case .failed: self.init(.internalServerError)
        }
    }

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

extension WebDAVError {
    /// The response: the condition as XML, or one line of text.
    func response() -> HTTPResponse {
        var response = HTTPResponse(status, fields: fields)
        if status.forbidsContent { return response }
        if let content {
            response.fields.append(.contentType, content.type)
            response.body = .bytes(content.bytes)
        } else if let condition {
            response.fields.append(.contentType, "application/xml; charset=utf-8")
            response.body = .bytes(ErrorBody.encode(condition))
        } else {
            response.fields.append(.contentType, "text/plain; charset=utf-8")
            var text: [UInt8] = []
            text.appendDecimal(Int64(status.code))
            text.append(UInt8(ascii: " "))
            text.append(contentsOf: status.reasonPhrase.description.utf8)
            text.append(UInt8(ascii: "\n"))
            response.body = .bytes(text)
        }
        return response
    }
}
