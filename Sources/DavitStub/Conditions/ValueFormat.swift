internal import DavitHTTP
internal import DavitSystem

/// A format of a text.
enum ValueFormat: String, CaseIterable, Sendable {
    /// `local@domain`: a local part without spaces, and a domain of at least two labels.
    case email
    /// A date such as `2026-11-24` that exists.
    case date
    /// A date with a time and an offset (RFC 3339 §5.6).
    case dateTime = "date-time"
    /// A date that is not in the future and at most 150 years ago.
    case birthdate
    case uuid, integer, number, boolean
    /// An absolute URI: a scheme, a colon, and characters of RFC 3986.
    case uri
    case ipv4, ipv6, hostname, base64

    /// Returns what is wrong with a text, nil if it has this format.
    /// - Parameter today: for `birthdate`; nil for the current date in UTC.
    func problem(_ text: String, today: Timestamp? = nil) -> String? {
        matches(text, today: today ?? Timestamp(nanoseconds: Clock.wallNow())) ? nil : "is not \(noun)"
    }

    private var noun: String {
        switch self {
        case .email: "an e-mail address"
        case .date: "a date such as 2026-11-24"
        case .dateTime: "a date and time such as 2026-11-24T12:00:00Z"
        case .birthdate: "a date of birth in the past, such as 1990-02-28"
        case .uuid: "a UUID"
        case .integer: "an integer"
        case .number: "a number"
        case .boolean: "true or false"
        case .uri: "an absolute URI"
        case .ipv4: "an IPv4 address"
        case .ipv6: "an IPv6 address"
        case .hostname: "a host name"
        case .base64: "Base64"
        }
    }

    private func matches(_ text: String, today: Timestamp) -> Bool {
        let bytes = Array(text.utf8)
        switch self {
        case .email: return Self.isEmail(text)
        case .date: return Self.date(bytes) != nil
        case .dateTime: return HTTPDate.parseISO8601(bytes.span) != nil
        case .birthdate:
            guard let date = Self.date(bytes) else { return false }
            return date <= today && date >= today.subtracting(days: 150 * 366)
        case .uuid:
            return bytes.count == 36
                && bytes.enumerated().allSatisfy { index, byte in
                    [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : byte.hexValue != nil
                }
        case .integer: return text.wholeMatch(of: /[+-]?[0-9]{1,400}/) != nil
        case .number:
            return text.wholeMatch(of: /[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?/) != nil
        case .boolean: return text == "true" || text == "false"
        case .uri:
            return text.wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:[A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=%]+/)
                != nil
        case .ipv4: return Self.isIPv4(text)
        case .ipv6: return text.contains(":") && IPAddress(text) != nil
        case .hostname: return Self.isHostName(text)
        case .base64: return Base64.decode(bytes.span) != nil
        }
    }

    private static func date(_ text: [UInt8]) -> Timestamp? {
        guard text.count == 10 else { return nil }
        return HTTPDate.parseISO8601(Array(text + "T00:00:00Z".utf8).span)
    }

    private static func isEmail(_ text: String) -> Bool {
        guard text.utf8.count <= 254, let at = text.lastIndex(of: "@") else { return false }
        let (local, domain) = (text[..<at], text[text.index(after: at)...])
        guard (1...64).contains(local.utf8.count), !local.hasPrefix("."), !local.hasSuffix("."),
            !local.contains(".."), domain.contains("."),
            local.utf8.allSatisfy({ $0 > 32 && $0 != 127 && !Array("\"(),:;<>@[\\]".utf8).contains($0) })
        else { return false }
        return isHostName(String(domain))
    }

    private static func isHostName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.unicodeScalars.allSatisfy {
                        $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "-"
                    }
            }
    }

    private static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1...3).contains(part.count), part.utf8.allSatisfy(\.isDigit), let number = Int(part)
                else {
                    return false
                }
                return number <= 255 && (part.count == 1 || part.first != "0")
            }
    }
}
