internal import DavitHTTP

/// Chooses the representation that a request refers to: the plain file, or the gzip-coded one.
enum RepresentationChoice {
    /// Whether to send the content with the coding gzip.
    ///
    /// A range refers to the plain file, regardless of Accept-Encoding, unless the client resumes the
    /// download of a coded representation and specifies its entity tag.
    static func takesGzip(_ request: HTTPRequest) -> Bool {
        guard AcceptEncoding(of: request).choice == .gzip else { return false }
        return !wantsRange(request) || namesCodedForm(request)
    }

    /// Whether the request refers to the bytes of a specific representation, so that the entity tag of
    /// another representation must not match.
    ///
    /// False if If-Range is a date and the client accepts gzip: both representations have the same date, so
    /// it is unknown to which of them the client's partial content belongs.
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
