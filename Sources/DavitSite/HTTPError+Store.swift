internal import DavitHTTP
internal import DavitStore

extension HTTPError {
    /// The status of what a store could not read. What is absent has its own answer where one is known.
    init(reading error: StoreError) {
        switch error {
        case .notFound, .missingAncestor, .wrongKind, .invalidName, .nameTooLong, .loop:
            self.init(.notFound, "There is nothing here.")
        case .forbidden: self.init(.forbidden, "This may not be read.")
        case .wouldBlock, .busy: self = .tooBusy
        case .alreadyExists, .outOfSpace, .quotaExceeded, .crossVolume, .tooDeep, .failed:
            self.init(.internalServerError, "This could not be read.")
        }
    }

    static let tooBusy = HTTPError(.serviceUnavailable, "Too much is waiting; try again in a moment.")
}
