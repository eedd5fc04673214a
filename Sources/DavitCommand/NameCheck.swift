internal import DavitHTTP
internal import DavitStore

/// Finds names in a share that some clients cannot use.
struct NameCheck {
    /// The maximum number of lines. There is a limit because every name in a share can be affected.
    private static let limit = 1_000

    /// One line for each problem with a name and for each folder that cannot be listed, escaped for display.
    private(set) var lines: [String] = []
    /// The number of lines that were omitted because of ``limit``.
    private(set) var unlisted = 0

    /// Traverses a share without following links. Blocks. Holds the names of one collection at a time in
    /// memory.
    init(_ resources: some ResourceReader) {
        var traversal = TreeTraversal(of: resources)
        do throws(StoreError) {
            let root = try resources.lookup(.root, last: .followed, wait: .allowed)
            guard let info = root.info else { throw .notFound }
            try traversal.begin(at: .root, info)
        } catch {
            addUnlisted(.root)
            return
        }
        var member = Member()
        var names: [[UInt8]] = []
        while true {
            let path = traversal.path
            switch traversal.next(&member) {
            case .member: names.append(member.name)
            case .listed:
                check(names, in: path)
                names = []
            case .interrupted:
                addUnlisted(path)
                names = []
            case .inaccessible(let name, _): if let path = path.appending(name) { addUnlisted(path) }
            case .passed, .entered, .left: break
            case .end: return
            }
        }
    }

    /// Checks the names of the members of one collection.
    private mutating func check(_ names: [[UInt8]], in path: ResourcePath) {
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if let issue = NameIssue.issue(with: name) { add(path, name, issue) }
        }
        for (name, issue) in NameIssue.issues(among: names) { add(path, name, issue) }
    }

    private mutating func addUnlisted(_ path: ResourcePath) { add(path, "cannot list this folder") }

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

    /// Returns `name` with backslashes, and characters that can affect a terminal, such as control and format
    /// characters, escaped as `\xNN`.
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
