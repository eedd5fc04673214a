internal import DavitHTTP

/// Maps recorded values to their counterparts in the replay. Entity tags, lock tokens and other generated
/// names differ from run to run, but where one occurred in the recording, its counterpart must occur in the
/// replay.
struct Roles {
    private struct TagKey: Hashable {
        var path: [UInt8]
        var tag: String
    }

    /// The actual entity tag for each recorded one, by recorded path.
    private var tags: [TagKey: String] = [:]
    private var recordedTags: [TagKey: String] = [:]
    private var tokens: [String: String] = [:]
    private var recordedTokens: [String: String] = [:]
    /// The most recent actual tag for each recorded one, regardless of the path.
    private var latestTags: [String: String] = [:]
    private var dates: [TagKey: String] = [:]
    /// Maps digests of omitted content to digests of the content that was sent in its place.
    private var digests: [String: String] = [:]
    /// Whether content was sent in place of omitted content.
    var hasFiller = false

    // MARK: Responses

    /// Records the actual entity tag that corresponds to a recorded one.
    ///
    /// - Returns: a description of the problem if the pair contradicts earlier pairs, or if the tags differ
    ///   in strength or the actual one is malformed; otherwise nil.
    mutating func bind(tag recorded: String, to actual: String, at path: [UInt8]) -> String? {
        guard recorded.hasPrefix("W/") == actual.hasPrefix("W/") else {
            return "recorded \(recorded), now \(actual)"
        }
        guard EntityTag.parse(WireText.bytes(actual).span) != nil else {
            return "\(actual) is not an entity tag"
        }
        let (forth, back) = (TagKey(path: path, tag: recorded), TagKey(path: path, tag: actual))
        latestTags[recorded] = actual
        if let known = tags[forth], known != actual {
            tags[forth] = actual
            recordedTags[back] = recorded
            return "unchanged when recorded, now changed"
        }
        if let known = recordedTags[back], known != recorded {
            tags[forth] = actual
            recordedTags[back] = recorded
            return "changed when recorded, now unchanged"
        }
        tags[forth] = actual
        recordedTags[back] = recorded
        return nil
    }

    /// Records the actual value that corresponds to a recorded lock token, or to another name that is unique
    /// on the server.
    ///
    /// - Returns: a description of the contradiction if the pair contradicts earlier pairs, otherwise nil.
    mutating func bind(token recorded: String, to actual: String) -> String? {
        if let known = tokens[recorded], known != actual {
            return "the counterpart of '\(recorded)' was '\(known)', now '\(actual)'"
        }
        if let known = recordedTokens[actual], known != recorded {
            return "'\(actual)' was the counterpart of '\(known)', now of '\(recorded)'"
        }
        tokens[recorded] = actual
        recordedTokens[actual] = recorded
        return nil
    }

    /// Records the actual modification date that corresponds to a recorded one.
    mutating func bind(date recorded: String, to actual: String, at path: [UInt8]) {
        dates[TagKey(path: path, tag: recorded)] = actual
    }

    mutating func bind(digest recorded: String, to actual: String) { digests[recorded] = actual }

    func digest(for recorded: String) -> String { digests[recorded] ?? recorded }

    // MARK: Requests

    /// Returns the value of a request field with recorded tags, tokens and dates replaced by their
    /// counterparts.
    func translated(_ field: WireField, at path: [UInt8]) -> String {
        switch field.name.lowercased() {
        case "if-match", "if-none-match": withTags(field.value, at: path)
        case "if-range": dates[TagKey(path: path, tag: field.value)] ?? withTags(field.value, at: path)
        case "if-modified-since", "if-unmodified-since":
            dates[TagKey(path: path, tag: field.value)] ?? field.value
        case "if": withTokens(withTags(field.value, at: path))
        case "lock-token": withTokens(field.value)
        default: field.value
        }
    }

    /// Returns content with recorded tokens replaced by their counterparts.
    func translated(_ content: [UInt8]) -> [UInt8] {
        let text = WireText.string(content)
        let result = translated(text)
        return result == text ? content : WireText.bytes(result)
    }

    /// Returns text with recorded tokens replaced by their counterparts.
    func translated(_ text: String) -> String {
        var result = text
        for (recorded, actual) in tokens where text.contains(recorded) {
            result = result.replacing(recorded, with: actual)
        }
        return result
    }

    /// Replaces each quoted string that is a known tag.
    private func withTags(_ value: String, at path: [UInt8]) -> String {
        Self.replacing(value, from: "\"", to: "\"") { quoted in
            let tag = "\"\(quoted)\""
            for candidate in [tag, "W/" + tag] {
                if let actual = tags[TagKey(path: path, tag: candidate)] ?? latestTags[candidate] {
                    return String(actual.dropFirst(actual.hasPrefix("W/") ? 3 : 1).dropLast())
                }
            }
            return nil
        }
    }

    /// Replaces each URL in angle brackets that is a known token.
    private func withTokens(_ value: String) -> String {
        Self.replacing(value, from: "<", to: ">") { tokens[$0] }
    }

    private static func replacing(
        _ text: String, from opening: Character, to closing: Character, _ other: (String) -> String?
    ) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: opening) {
            let inside = rest[rest.index(after: start)...]
            guard let end = inside.firstIndex(of: closing) else { break }
            result += rest[...start]
            result += other(String(inside[..<end])) ?? String(inside[..<end])
            result.append(closing)
            rest = inside[inside.index(after: end)...]
        }
        return result + rest
    }
}
