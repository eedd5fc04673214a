public import DavitHTTP

extension HTTPResponse {
    /// The kind of a redirect (RFC 9110 §15.4).
    public enum Redirect: Sendable {
        /// 301. Clients may change POST to GET.
        case movedPermanently
        /// 302. Clients may change POST to GET.
        case found
        /// 303. Clients use GET for the new location, typically after a form submission.
        case seeOther
        /// 307. Clients repeat the same request at the new location, this time only.
        case temporary
        /// 308. Clients repeat the same request at the new location, now and in the future.
        case permanent

        var status: HTTPStatus {
            switch self {
            case .movedPermanently: .movedPermanently
            case .found: .found
            case .seeOther: .seeOther
            case .temporary: .temporaryRedirect
            case .permanent: .permanentRedirect
            }
        }
    }

    /// Returns a redirect to another location.
    ///
    /// - Parameter location: a URI, or a path with its leading slash. Characters not allowed in a URI,
    ///   including line terminators, are percent-encoded; existing escapes are preserved. Validate locations
    ///   taken from a request: `//elsewhere.example` refers to another host.
    public static func redirect(to location: String, _ redirect: Redirect = .seeOther) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.location, encodedLocation(Array(location.utf8)))
        return HTTPResponse(status: redirect.status, fields: fields)
    }

    /// Encodes all characters except those that RFC 3986 §2 allows and `%` followed by two hexadecimal
    /// digits.
    private static func encodedLocation(_ location: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        for (index, byte) in location.enumerated() {
            switch byte {
            case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"),
                UInt8(ascii: "["),
                UInt8(ascii: "]"), UInt8(ascii: "@"):
                encoded.append(byte)
            case UInt8(ascii: "%") where PercentCoding.decode(location[index...].prefix(3)) != nil:
                encoded.append(byte)
            case _ where byte.isSubDelimiter:
                encoded.append(byte)
            default:
                PercentCoding.append(CollectionOfOne(byte), to: &encoded)
            }
        }
        return encoded
    }
}
