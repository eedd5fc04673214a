internal import DavitServer

/// What the values of options may be.
extension Arguments {
    static func user(_ value: String) throws(UsageError) -> ServeOptions.User {
        // The error does not repeat the value: it can contain a password.
        guard let user = Accounts.nameAndPassword(of: value) else { throw .badUser }
        return ServeOptions.User(name: user.name, password: user.password)
    }

    static func origin(_ value: String) throws(UsageError) -> WebOrigin {
        // A page of anybody could then do all that the person in front of the browser may.
        if value == "*" { throw .anyOrigin }
        guard let origin = WebOrigin(parsing: value) else { throw .badOrigin(value) }
        return origin
    }

    /// A list such as `digest,basic`; `digest` is all of Digest, in the order in which it should be offered.
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

    /// A list such as `jpg,png`.
    static func extensions(_ value: String) throws(UsageError) -> Set<String> {
        let words = value.split(separator: ",", omittingEmptySubsequences: false)
        for word in words {
            // An extension is what stands behind the last period.
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

    /// Bytes, or with K, M, G or T behind them 1024 of the next smaller ones.
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

    /// Seconds of a number of days, or of hours with `h` behind it.
    static func age(_ value: String, option: String) throws(UsageError) -> Int64 {
        let isInHours = value.hasSuffix("h")
        let digits = isInHours || value.hasSuffix("d") ? value.dropLast() : value[...]
        guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(digits),
            (1...10_000).contains(number)
        else { throw .badAge(value, option: option) }
        return number * (isInHours ? 3600 : 86_400)
    }

    static func withoutBrackets(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return host }
        return String(host.dropFirst().dropLast())
    }
}
