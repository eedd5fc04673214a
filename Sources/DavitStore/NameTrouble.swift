/// Why a name makes trouble for clients, although the volume holds it.
public enum NameTrouble: Hashable, Sendable {
    /// Bytes that are not UTF-8: clients show something else, or leave the resource out.
    case notUTF8
    /// A control character.
    case control
    /// One of `< > : " | ? * \`, which no name may hold on Windows; which one.
    case reserved(Character)
    /// A dot or a space at the end, which Windows drops.
    case ending(Character)
    /// The name of a device on Windows, with or without something behind a dot; which one.
    case device(String)
    /// The same as another name but for the case of its letters: Windows and macOS see one of the two.
    case sameButForCase(as: [UInt8])
    /// The same as another name but for the way its characters are composed: they cannot be told apart by sight, and
    /// macOS sees one of the two.
    case sameButForComposition(as: [UInt8])

    /// What is wrong with a name by itself, the first of what is.
    public static func trouble(with name: [UInt8]) -> NameTrouble? {
        guard let text = String(validating: name, as: UTF8.self) else { return .notUTF8 }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || scalar.value == 0x7F { return .control }
            if #"<>:"|?*\"#.unicodeScalars.contains(scalar) { return .reserved(Character(scalar)) }
        }
        if let last = text.unicodeScalars.last, last == "." || last == " " { return .ending(Character(last)) }
        return device(text).map { .device($0) }
    }

    /// What is wrong with the names of one collection beside each other: every name but the first of those that are one
    /// for somebody, in the order of their bytes.
    public static func troubles(among names: [[UInt8]]) -> [(name: [UInt8], trouble: NameTrouble)] {
        var first: [String: [UInt8]] = [:]
        var found: [(name: [UInt8], trouble: NameTrouble)] = []
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard let text = String(validating: name, as: UTF8.self) else { continue }
            // Strings are equal if they are canonically equivalent.
            let key = folded(text)
            guard let other = first[key] else {
                first[key] = name
                continue
            }
            let isEquivalent = text == String(decoding: other, as: UTF8.self)
            found.append(
                (name, isEquivalent ? .sameButForComposition(as: other) : .sameButForCase(as: other)))
        }
        return found
    }

    /// Letter by letter, as file systems do it: `ß` does not become two letters.
    private static func folded(_ text: String) -> String {
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let upper = scalar.properties.uppercaseMapping.unicodeScalars
            folded.append(upper.count == 1 ? upper[upper.startIndex] : scalar)
        }
        return String(folded)
    }

    /// What stands before the first dot, without spaces at its end, counts.
    private static func device(_ name: String) -> String? {
        var base = name.prefix { $0 != "." }
        while base.last == " " { base.removeLast() }
        let upper = base.uppercased()
        return devices.contains(upper) ? upper : nil
    }

    private static let devices: Set<String> = {
        var names: Set<String> = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
        // Windows takes the three superscript digits for digits.
        for digit in "123456789¹²³" { names.formUnion(["COM\(digit)", "LPT\(digit)"]) }
        return names
    }()
}
