internal import DavitHTTP
internal import DavitStore

/// Finds names in a share that some clients cannot use.
struct NameCheck {
    /// The maximum number of lines; every name of a folder can be affected.
    private static let limit = 1_000

    /// One line for each name, escaped for display.
    private(set) var lines: [String] = []
    /// The number of names that are not listed because of the limit.
    private(set) var unlisted = 0

    /// Traverses a share without following links. Blocks. Holds the names of one collection at a time in
    /// memory.
    init(_ resources: some ResourceReader) {
        var rest = [ResourcePath.root]
        while let path = rest.popLast() {
            do throws(StoreError) {
                let inner = try look(at: path, in: resources)
                rest += inner.reversed()
            } catch {
                add(path, "cannot list this folder")
            }
        }
    }

    /// Checks the members of one collection.
    ///
    /// - Returns: the collections in it.
    private mutating func look(
        at path: ResourcePath, in resources: some ResourceReader
    ) throws(StoreError) -> [ResourcePath] {
        var names: [[UInt8]] = []
        var collections: [ResourcePath] = []
        let cursor = try resources.members(of: path)
        var member = Member()
        while try cursor.next(&member) {
            names.append(member.name)
            guard member.info.isCollection, member.canonicalPath == nil else { continue }
            if let inner = path.appending(member.name) { collections.append(inner) }
        }
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if let issue = NameIssue.issue(with: name) { add(path, name, issue) }
        }
        for (name, issue) in NameIssue.issues(among: names) { add(path, name, issue) }
        return collections.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private mutating func add(_ path: ResourcePath, _ name: [UInt8], _ issue: NameIssue) {
        if let path = path.appending(name) { add(path, Self.text(of: issue)) }
    }

    private mutating func add(_ path: ResourcePath, _ text: String) {
        if lines.count < Self.limit {
            lines.append("/\(Self.shown(path.bytes)): \(text)")
        } else {
            unlisted += 1
        }
    }

    private static func text(of issue: NameIssue) -> String {
        switch issue {
        case .notUTF8: "not valid UTF-8"
        case .control: "Windows does not allow control characters"
        case .reserved(let character): "Windows does not allow \(character)"
        case .ending(" "): "Windows removes the trailing space"
        case .ending: "Windows removes the trailing period"
        case .device(let device): "\(device) is a reserved device name on Windows"
        case .differsOnlyInCase(let other): "same name as \(shown(other)) on Windows and macOS"
        case .differsOnlyInNormalization(let other):
            "same name as \(shown(other)) on macOS, in another Unicode normalization"
        }
    }

    /// Returns `name` with bytes that can affect a terminal (control and format characters, for example) and
    /// backslashes as `\xNN`.
    static func shown(_ name: [UInt8]) -> String {
        var shown = ""
        for character in String(decoding: name, as: UTF8.self).unicodeScalars {
            switch character.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                for byte in String(character).utf8 { shown += Self.escape(byte) }
            default:
                shown += character == "\\" ? Self.escape(UInt8(ascii: "\\")) : String(character)
            }
        }
        return shown
    }

    private static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "\\x" + (digits.count == 1 ? "0" : "") + digits
    }
}
