internal import DavitHTTP

/// Which form of a file a request is about: the file as it is, or its content in a coding.
enum FormChoice {
    /// Whether the content is to be sent in the coding gzip.
    ///
    /// A range is one of the file as it is, whatever the client takes otherwise: unless it wants to go on with a coded form,
    /// and says so by the tag of that.
    static func takesGzip(_ request: HTTPRequest) -> Bool {
        guard AcceptEncoding(of: request).choice == .gzip else { return false }
        return !wantsRange(request) || namesCodedForm(request)
    }

    /// Whether the request is about the bytes of one form: a tag of another must not stand for it.
    ///
    /// Not if its condition is a date, and the client takes gzip: both forms have the same date, so that nobody can say of
    /// which one it has bytes already.
    static func wantsRange(_ request: HTTPRequest) -> Bool {
        guard request.method == .get, request.contains(.range) else { return false }
        let hasTag = request.withValue(of: .ifRange) { EntityTag.parse($0) != nil } ?? true
        return hasTag || AcceptEncoding(of: request).choice != .gzip
    }

    private static func namesCodedForm(_ request: HTTPRequest) -> Bool {
        let ifRange = request.withValue(of: .ifRange) { EntityTag.parse($0)?.isCoded ?? false }
        if let ifRange { return ifRange }
        guard let value = request.combinedBytes(of: .ifMatch),
            case .tags(let tags) = EntityTagList.parse(value.span)
        else { return false }
        return tags.contains(where: \.isCoded)
    }
}
