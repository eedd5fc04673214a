/// The methods that a resource supports, for `Allow` (RFC 9110 §10.2.1).
enum AllowedMethods {
    static let collection: StaticString =
        "OPTIONS, GET, HEAD, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// A collection addressed by its add-member URI (RFC 5995).
    static let addMember: StaticString =
        "OPTIONS, GET, HEAD, POST, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    static let content: StaticString =
        "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// An upload in progress.
    static let upload: StaticString = "OPTIONS, HEAD, PATCH, DELETE"
    static let principal: StaticString = "OPTIONS, PROPFIND"
    static let unmapped: StaticString = "OPTIONS, PUT, MKCOL, LOCK"
    /// Every method that some resource supports at its own URI. POST is not included, because it requires the add-member
    /// URI, a form action or a `Tus-Resumable` field.
    static let ofResources: StaticString =
        "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
    /// For `OPTIONS *`: every method that some resource supports.
    static let any: StaticString =
        "OPTIONS, GET, HEAD, POST, PUT, PATCH, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
}
