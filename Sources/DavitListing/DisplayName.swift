/// Formats names for display, like `visible` in `href.js`, but without changing control characters, which the
/// HTML encoder replaces.
///
/// Invalid UTF-8, bidirectional control characters and invisible characters become U+FFFD: with the former, a program
/// whose name ends in `gpj.exe` looks like an image that ends in `exe.jpg`, and with the latter, two names can look the
/// same. Text in right-to-left scripts does not need these characters. Joiners (U+200C, U+200D) belong to scripts and emoji.
package enum DisplayName {
    package static func text(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        // Fast path: in UTF-8, all characters to be replaced begin with one of these bytes, which few names
        // contain.
        guard name.contains(where: beginsReplaced) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isReplaced(scalar) ? "\u{FFFD}" : scalar) }
        return String(shown)
    }

    private static func beginsReplaced(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2, 0xD8, 0xE1, 0xE2, 0xEF: true
        default: false
        }
    }

    private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Bidirectional marks, embeddings, overrides and isolates (UAX #9 §2).
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        // The soft hyphen, the Mongolian vowel separator, the zero width space, the word joiner, invisible operators, and
        // the zero width no-break space.
        case 0x00AD, 0x180E, 0x200B, 0x2060...0x2064, 0xFEFF: true
        default: false
        }
    }
}
