public import DavitHTTP

extension HTTPResponse {
    /// What a redirect says about the resource and the method (RFC 9110 §15.4).
    public enum Redirect: Sendable {
        /// 301; the client may change POST to GET.
        case movedPermanently
        /// 302; the client may change POST to GET.
        case found
        /// 303: look there with GET. What follows a form that was accepted.
        case seeOther
        /// 307: the same request there, this time.
        case temporary
        /// 308: the same request there, from now on.
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

    /// Sends the client to another place.
    ///
    /// - Parameter location: a URI, or a path with its leading slash. What no URI has, line ends included, is
    ///   percent-encoded; what is encoded already stays. Do not take it from a request unseen: `//elsewhere.example`
    ///   is a place, too.
    public static func redirect(to location: String, _ redirect: Redirect = .seeOther) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.location, encodedLocation(Array(location.utf8)))
        return HTTPResponse(redirect.status, fields: fields)
    }

    /// Only the characters of RFC 3986 §2, and `%` only in front of two hexadecimal digits.
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
