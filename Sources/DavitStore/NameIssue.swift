/// A reason why a name causes problems for some clients although the volume accepts it.
public enum NameIssue: Hashable, Sendable {
    /// The bytes are not UTF-8: clients show another name or omit the resource.
    case notUTF8
    /// The name contains a control character.
    case control
    /// The name contains this character, one of `< > : " | ? * \`, which Windows does not allow.
    case reserved(Character)
    /// The name ends with this character, a dot or a space, which Windows removes.
    case ending(Character)
    /// The name is this Windows device name, with or without an extension.
    case device(String)
    /// The name differs from another one only in case: Windows and macOS show only one of the two.
    case differsOnlyInCase(as: [UInt8])
    /// The name is canonically equivalent to another one: they look identical, and macOS shows only one of
    /// the two.
    case differsOnlyInNormalization(as: [UInt8])

    /// Returns the first issue with `name`, without regard to other names; nil if there is none.
    public static func issue(with name: [UInt8]) -> NameIssue? {
        guard let text = String(validating: name, as: UTF8.self) else { return .notUTF8 }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || scalar.value == 0x7F { return .control }
            if #"<>:"|?*\"#.unicodeScalars.contains(scalar) { return .reserved(Character(scalar)) }
        }
        if let last = text.unicodeScalars.last, last == "." || last == " " { return .ending(Character(last)) }
        return device(text).map { .device($0) }
    }

    /// Returns the conflicts between names of one collection. Of each group of names that some clients cannot
    /// distinguish, all except the first in byte order are reported.
    public static func issues(among names: [[UInt8]]) -> [(name: [UInt8], issue: NameIssue)] {
        var first: [String: [UInt8]] = [:]
        var found: [(name: [UInt8], issue: NameIssue)] = []
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard let text = String(validating: name, as: UTF8.self) else { continue }
            // Swift strings compare by canonical equivalence.
            let key = folded(text)
            guard let other = first[key] else {
                first[key] = name
                continue
            }
            let isEquivalent = text == String(decoding: other, as: UTF8.self)
            found.append(
                (name, isEquivalent ? .differsOnlyInNormalization(as: other) : .differsOnlyInCase(as: other)))
        }
        return found
    }

    /// Folds the case of each letter separately, as file systems do: `ß` does not become two letters.
    private static func folded(_ text: String) -> String {
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let upper = scalar.properties.uppercaseMapping.unicodeScalars
            folded.append(upper.count == 1 ? upper[upper.startIndex] : scalar)
        }
        return String(folded)
    }

    /// Returns the Windows device name in `name`, if any. Only the part before the first dot is compared,
    /// without trailing spaces.
    private static func device(_ name: String) -> String? {
        var base = name.prefix { $0 != "." }
        while base.last == " " { base.removeLast() }
        let upper = base.uppercased()
        return devices.contains(upper) ? upper : nil
    }

    private static let devices: Set<String> = {
        var names: Set<String> = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
        // Windows accepts the three superscript digits as digits.
        for digit in "123456789¹²³" { names.formUnion(["COM\(digit)", "LPT\(digit)"]) }
        return names
    }()
}
