internal import DavitHTTP
internal import DavitStore

extension HTTPError {
    /// Creates the error for a failed read. Callers that have a more specific response to some of these
    /// errors handle those errors themselves.
    init(reading error: StoreError) {
        switch error {
        case .notFound, .missingAncestor, .wrongKind, .invalidName, .nameTooLong, .loop:
            self.init(.notFound, "Not found.")
        case .forbidden: self.init(.forbidden, "Access denied.")
        case .wouldBlock, .busy, .rightsChanged: self = .tooBusy
        case .alreadyExists, .outOfSpace, .quotaExceeded, .crossVolume, .tooDeep, .superseded, .failed:
            self.init(.internalServerError, "The resource could not be read.")
        }
    }

    static let tooBusy = HTTPError(.serviceUnavailable, "The server is busy; try again later.")
}
