/// A name as people are shown it; the scripts do the same (`visible` in `href.js`).
///
/// Bytes that are not UTF-8, and signs that turn the text around them, become U+FFFD: with one of these, a program that ends
/// in `gpj.exe` reads as a picture that ends in `exe.jpg`. What belongs to a script is written from right to left by itself.
enum ShownName {
    static func text(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        // All of them begin with this byte, as few names have it.
        guard name.contains(0xE2) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isTurning(scalar) ? "\u{FFFD}" : scalar) }
        return String(shown)
    }

    /// Marks, embeddings, overrides and isolates (UAX #9 §2).
    private static func isTurning(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
