internal import Davit
internal import DavitServer

/// Parsers for option values.
extension Arguments {
    static func user(_ value: String) throws(UsageError) -> ServeOptions.User {
        // The error does not contain the value, because it can contain a password.
        guard let account = try? AccountLine(parsing: value) else { throw .badUser }
        return ServeOptions.User(name: account.name, password: account.secret)
    }

    /// Parses `/PATH=FOLDER`.
    static func mount(_ value: String) throws(UsageError) -> WebDAVShare.MountedFolder {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("/"), !parts[1].isEmpty else { throw .badMount(value) }
        return WebDAVShare.MountedFolder(String(parts[0]), folder: String(parts[1]))
    }

    /// Parses `FOLDER/{user}`.
    static func homes(_ value: String) throws(UsageError) -> WebDAVShare.MountedFolder {
        let suffix = "/{user}"
        guard value.hasSuffix(suffix), value != suffix else { throw .badHome(value) }
        return WebDAVShare.MountedFolder("/home", folder: String(value.dropLast(suffix.count)))
    }

    static func origin(_ value: String) throws(UsageError) -> WebOrigin {
        // With `*`, any page could do everything that the user of the browser is allowed to do.
        if value == "*" { throw .anyOrigin }
        guard let origin = WebOrigin(parsing: value) else { throw .badOrigin(value) }
        return origin
    }

    /// Parses a list such as `digest,basic`. `digest` means all Digest schemes, in the order in which they
    /// are offered.
    static func schemes(_ value: String) throws(UsageError) -> [AuthenticationSettings.Scheme] {
        var schemes: [AuthenticationSettings.Scheme] = []
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            let named: [AuthenticationSettings.Scheme]
            if word == "digest" {
                named = [.digestSHA256, .digestMD5]
            } else if let scheme = AuthenticationSettings.Scheme(rawValue: String(word)) {
                named = [scheme]
            } else {
                throw .badScheme(value)
            }
            for scheme in named {
                if schemes.contains(scheme) { throw .badScheme(value) }
                schemes.append(scheme)
            }
        }
        return schemes
    }

    /// Parses a list such as `jpg,png`.
    static func extensions(_ value: String) throws(UsageError) -> Set<String> {
        let words = value.split(separator: ",", omittingEmptySubsequences: false)
        for word in words {
            // An extension is the part after the last period.
            let word = word.hasPrefix(".") ? word.dropFirst() : word
            if word.isEmpty || word.contains(where: { $0 == "." || $0 == "/" }) {
                throw .badExtensions(value)
            }
        }
        return Set(words.map(String.init))
    }

    static func number<T: FixedWidthInteger>(
        _ value: String, option: String, in range: ClosedRange<Int>
    ) throws(UsageError) -> T {
        guard value.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int(value),
            range.contains(number), let exact = T(exactly: number)
        else { throw .badNumber(value, option: option, range: range) }
        return exact
    }

    /// Parses a number of bytes, optionally with a suffix K, M, G or T for a power of 1024.
    static func bytes(_ value: String, option: String) throws(UsageError) -> Int64 {
        let units = "KMGT"
        var digits = value[...]
        var shift: Int64 = 0
        if let last = value.uppercased().last, let position = units.firstIndex(of: last) {
            digits = value.dropLast()
            shift = 10 * Int64(units.distance(from: units.startIndex, to: position) + 1)
        }
        guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(digits),
            number <= Int64.max >> shift
        else { throw .badSize(value, option: option) }
        return number << shift
    }

    /// Parses a limit in bytes, at least 1: a limit of 0 would refuse everything.
    static func limit(_ value: String, option: String) throws(UsageError) -> Int64 {
        let bytes = try bytes(value, option: option)
        if bytes == 0 { throw .limitOfZero(option: option) }
        return bytes
    }

    /// Parses bytes per second, at least 1024.
    static func rate(_ value: String, option: String) throws(UsageError) -> Int {
        let bytes = try bytes(value, option: option)
        guard bytes >= 1024, let rate = Int(exactly: bytes) else { throw .rateTooLow(value, option: option) }
        return rate
    }

    /// Parses a number of days, optionally with a suffix `d`, or of hours with a suffix `h`, and returns seconds.
    static func age(_ value: String, option: String) throws(UsageError) -> Int64 {
        let isInHours = value.hasSuffix("h")
        let digits = isInHours || value.hasSuffix("d") ? value.dropLast() : value[...]
        guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(digits),
            (1...10_000).contains(number)
        else { throw .badAge(value, option: option) }
        return number * (isInHours ? 3600 : 86_400)
    }

    /// Parses permissions of three or four octal digits, such as 660; returns nil for anything else.
    static func mode(_ value: String) -> UInt32? {
        guard (3...4).contains(value.utf8.count), let mode = UInt32(value, radix: 8), mode <= 0o777,
            value.utf8.first != UInt8(ascii: "+")
        else { return nil }
        return mode
    }

    static func withoutBrackets(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return host }
        return String(host.dropFirst().dropLast())
    }
}
