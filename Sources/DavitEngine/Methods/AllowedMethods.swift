/// The methods a resource supports, for `Allow` (RFC 9110 §10.2.1).
enum AllowedMethods {
    static let collection: StaticString =
        "OPTIONS, GET, HEAD, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, LOCK, UNLOCK"
    static let content: StaticString =
        "OPTIONS, GET, HEAD, PUT, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, LOCK, UNLOCK"
    static let unmapped: StaticString = "OPTIONS, PUT, MKCOL, LOCK"
    /// For `OPTIONS *`: whatever some resource supports.
    static let any: StaticString =
        "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, LOCK, UNLOCK"
}
