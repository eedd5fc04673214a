internal import DavitHTTP
internal import DavitStore

/// Looks for names in a share that some clients cannot use.
struct NameSurvey {
    /// Lines at most; of a folder from elsewhere every name can be one.
    private static let limit = 1_000

    /// A line each, ready to be shown.
    private(set) var lines: [String] = []
    /// Those over the limit.
    private(set) var unlisted = 0

    /// Walks a whole share, without what links lead to. Blocks; memory for the names of one collection at a time.
    init(_ resources: some ResourceReader) {
        var rest = [ResourcePath.root]
        while let path = rest.popLast() {
            do throws(StoreError) {
                let inner = try look(at: path, in: resources)
                rest += inner.reversed()
            } catch {
                add(path, "its members cannot be read")
            }
        }
    }

    /// - Returns: the collections inside.
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
            if let trouble = NameTrouble.trouble(with: name) { add(path, name, trouble) }
        }
        for (name, trouble) in NameTrouble.troubles(among: names) { add(path, name, trouble) }
        return collections.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private mutating func add(_ path: ResourcePath, _ name: [UInt8], _ trouble: NameTrouble) {
        if let path = path.appending(name) { add(path, Self.text(of: trouble)) }
    }

    private mutating func add(_ path: ResourcePath, _ text: String) {
        if lines.count < Self.limit {
            lines.append("/\(Self.shown(path.bytes)): \(text)")
        } else {
            unlisted += 1
        }
    }

    private static func text(of trouble: NameTrouble) -> String {
        switch trouble {
        case .notUTF8: "it is not UTF-8"
        case .control: "Windows holds no name with a control character"
        case .reserved(let character): "Windows holds no name with \(character)"
        case .ending(" "): "Windows drops the space at its end"
        case .ending: "Windows drops the dot at its end"
        case .device(let device): "\(device) is a device on Windows"
        case .sameButForCase(let other): "Windows and macOS take it for \(shown(other))"
        case .sameButForComposition(let other):
            "macOS takes it for \(shown(other)), whose characters are composed in another way"
        }
    }

    /// Text that does nothing to a terminal: what is no letter, digit, sign or space stands as `\xNN`.
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
