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

    /// What the bytes of one form are, the tag of another must not stand for.
    static func wantsRange(_ request: HTTPRequest) -> Bool {
        request.method == .get && request.contains(.range)
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
