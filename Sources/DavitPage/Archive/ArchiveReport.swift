internal import DavitEngine

/// The list of resources that are missing or incomplete in an archive; its text is the last entry of the
/// archive.
struct ArchiveReport: Sendable {
    /// The size of the text in bytes from which further problems are only counted.
    private static let limitBytes = 256 << 10

    private var lines: [UInt8] = []
    private var unnamedCount = 0
    /// The number of problems.
    private(set) var count = 0

    mutating func add(_ path: [UInt8], _ what: String) {
        count += 1
        guard lines.count < Self.limitBytes else {
            unnamedCount += 1
            return
        }
        for byte in path {
            // Escape control characters, so that each problem is one line.
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
                let digits = String(byte, radix: 16, uppercase: true)
                lines.append(contentsOf: "%\(digits.count < 2 ? "0" : "")\(digits)".utf8)
            } else {
                lines.append(byte)
            }
        }
        lines.append(contentsOf: ": \(what)\n".utf8)
    }

    mutating func add(_ path: [UInt8], _ obstacle: DownloadTraversal.Obstacle) {
        switch obstacle {
        case .missing: add(path, "no longer exists")
        case .circle: add(path, "links to one of its parent folders")
        case .repeated: add(path, "links to a folder that is already in this archive")
        case .unreadable: add(path, "could not be read")
        }
    }

    var text: [UInt8] {
        var text = Array("This archive is incomplete:\n\n".utf8)
        text.append(contentsOf: lines)
        if unnamedCount > 0 { text.append(contentsOf: "and \(unnamedCount) more\n".utf8) }
        return text
    }

    /// Returns an unused name for the report.
    /// - Parameter taken: the top-level names of the archive.
    static func name(besides taken: Set<[UInt8]>) -> [UInt8] {
        var number = 1
        while true {
            let name = Array((number == 1 ? "_errors.txt" : "_errors \(number).txt").utf8)
            if !taken.contains(name) { return name }
            number += 1
        }
    }
}
