internal import DavitHTTP
internal import DavitServer
internal import DavitWebDAV

/// Candidate names for a member whose name the server chooses, in order of preference: the name itself, then
/// `name (1).ext` and so on, then random names. The browser page uses the same rule (`names.js`).
package struct MemberNames {
    /// The maximum number of numbered names.
    private static let numberLimit = 99
    /// The maximum number of digits of an existing number that is incremented; a longer number is probably a year.
    private static let numberDigits = 3
    private static let randomLimit = 4
    /// The maximum length of an extension in characters; a longer suffix is part of the stem.
    private static let extensionLimit = 12
    /// The maximum length of a file name in bytes on common file systems.
    private static let lengthLimit = 255

    package let names: [[UInt8]]

    /// - Parameters:
    ///   - name: The name chosen by the client or the user, or the current name.
    ///   - isCollection: If true, a period does not begin an extension.
    ///   - isTaken: If true, the name itself is skipped.
    package init(_ name: [UInt8], isCollection: Bool = false, isTaken: Bool = false) {
        let (whole, suffix) = isCollection ? (name[...], []) : Self.split(name)
        let (stem, last) = Self.unnumbered(whole)
        var names = isTaken ? [] : [name]
        for number in (last + 1)...(last + Self.numberLimit) {
            names.append(Self.joined(stem, Array(" (\(number))".utf8) + suffix))
        }
        for _ in 0..<Self.randomLimit {
            names.append(Self.joined(stem, [UInt8(ascii: " ")] + Self.random() + suffix))
        }
        self.names = names
    }

    /// Creates the names from `Slug`, or random names without it. A name without an extension gets one for
    /// Content-Type, because the extension determines the media type of stored content.
    init(for request: HTTPRequest) {
        let proposed = request.string(named: "Slug").flatMap { Slug.name(from: Array($0.utf8)) }
        let type = request.contentType?.essence
        if let proposed { self.init(Self.withSuffix(proposed, for: type)) } else { self.init(type: type) }
    }

    /// Creates the names from the name that the client prefers or, if there is none, random names with an extension for
    /// the media type.
    init(_ name: [UInt8]?, type: String?) {
        if let name { self.init(name) } else { self.init(type: type) }
    }

    private init(type: String?) {
        names = (0...Self.randomLimit).map { _ in Self.withSuffix(Self.random(), for: type) }
    }

    // MARK: Name components

    /// Returns the stem and the extension with its period. `.tar.gz` is one extension; `.profile` has none.
    private static func split(_ name: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        let period = UInt8(ascii: ".")
        guard let dot = name.dropFirst().lastIndex(of: period) else { return (name[...], []) }
        let letters = name[(dot + 1)...]
        let count = letters.count { !isContinuation($0) }
        guard 1...extensionLimit ~= count, !letters.contains(UInt8(ascii: " ")) else {
            return (name[...], [])
        }
        let inner = name[..<dot].suffix(4)
        let isArchive = inner.startIndex > 0 && inner.map { $0 | 0x20 } == Array(".tar".utf8)
        let end = isArchive ? inner.startIndex : dot
        return (name[..<end], name[end...])
    }

    /// Returns the stem without a trailing number, and that number; 0 if there is none.
    private static func unnumbered(_ stem: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, Int) {
        guard stem.last == UInt8(ascii: ")") else { return (stem, 0) }
        let open = Array(" (".utf8)
        let digits = stem.dropLast().reversed().prefix { 0x30...0x39 ~= $0 }.reversed()
        let rest = stem.dropLast(digits.count + 1)
        guard 1...numberDigits ~= digits.count, rest.count > open.count, rest.suffix(2).elementsEqual(open),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return (stem, 0) }
        return (rest.dropLast(open.count), number)
    }

    /// Joins the stem and the end. If the result would be too long, truncates the stem at a character boundary.
    private static func joined(_ stem: ArraySlice<UInt8>, _ end: [UInt8]) -> [UInt8] {
        var kept = stem.prefix(max(lengthLimit - end.count, 0))
        if kept.count < stem.count, isContinuation(stem[kept.endIndex]) {
            while let last = kept.popLast(), isContinuation(last) {}
        }
        return kept + end
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// Appends the extension for the media type to a name without one.
    private static func withSuffix(_ proposed: [UInt8], for type: String?) -> [UInt8] {
        let hasSuffix = proposed.dropFirst().contains(UInt8(ascii: "."))
        guard !hasSuffix, let type, let suffix = MediaType.suffix(for: type) else { return proposed }
        return proposed + [UInt8(ascii: ".")] + suffix
    }

    private static func random() -> [UInt8] {
        Array(String(UInt64.random(in: .min ... .max), radix: 36).utf8)
    }
}
