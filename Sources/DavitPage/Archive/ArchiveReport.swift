internal import DavitEngine

/// What an archive does not have, or not whole: the text of the entry at its end that says so.
struct ArchiveReport: Sendable {
    /// Bytes of text that are kept; what does not fit is counted.
    private static let limitBytes = 256 << 10

    private var lines: [UInt8] = []
    private var unnamedCount = 0
    /// How many troubles there were.
    private(set) var count = 0

    mutating func add(_ path: [UInt8], _ what: String) {
        count += 1
        guard lines.count < Self.limitBytes else {
            unnamedCount += 1
            return
        }
        for byte in path {
            // One line for each, whatever the name.
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
                let digits = String(byte, radix: 16, uppercase: true)
                lines.append(contentsOf: "%\(digits.count < 2 ? "0" : "")\(digits)".utf8)
            } else {
                lines.append(byte)
            }
        }
        lines.append(contentsOf: ": \(what)\n".utf8)
    }

    mutating func add(_ path: [UInt8], _ trouble: CollectionWalk.Trouble) {
        switch trouble {
        case .missing: add(path, "is not there any more")
        case .circle: add(path, "is a link to a folder that it is in")
        case .repeated: add(path, "is a link to a folder that is in this archive already")
        case .unreadable: add(path, "could not be read")
        }
    }

    var text: [UInt8] {
        var text = Array("This archive is not complete:\n\n".utf8)
        text.append(contentsOf: lines)
        if unnamedCount > 0 { text.append(contentsOf: "and \(unnamedCount) more\n".utf8) }
        return text
    }

    /// The name of the entry.
    /// - Parameter taken: the names at the top of the archive.
    static func name(besides taken: Set<[UInt8]>) -> [UInt8] {
        var number = 1
        while true {
            let name = Array((number == 1 ? "_errors.txt" : "_errors \(number).txt").utf8)
            if !taken.contains(name) { return name }
            number += 1
        }
    }
}
