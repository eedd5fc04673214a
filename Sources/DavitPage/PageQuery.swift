internal import DavitHTTP

/// What a query on a collection can request instead of the listing. Each case needs a row in the table of access tests.
package enum PageQuery: String, CaseIterable, Sendable {
    /// An archive of the collection.
    case archive
    /// The members as JSON.
    case json
    /// The address of the collection as a QR code.
    case qr
    /// The properties of a member, with forms.
    case about
    /// The trash.
    case trash
}

extension FormFields {
    subscript(query: PageQuery) -> String? { self[query.rawValue] }
}
