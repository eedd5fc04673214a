import DavitHTTP
import DavitLogging
import Testing

/// Verifies that every format preserves client data and that clients cannot forge log fields.
struct AccessFormatTests {
    /// Returns a record with `byte` in the query and in `User-Agent` if the parser accepts it, else in the
    /// user name.
    static func hostile(_ byte: UInt8) throws -> AccessRecord {
        let request = HTTPRequest()
        var parser = HeadParser()
        var head = Array("GET /x".utf8)
        let isTarget = byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
        if isTarget { head.append(byte) }
        head += Array(" HTTP/1.1\r\nHost: h\r\nUser-Agent: a".utf8)
        if byte >= 0x20 && byte != 0x7F || byte == 9 { head.append(byte) }
        head += Array("z\r\n\r\n".utf8)
        let parsed = try? unsafe head.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
        // The parser rejects such bytes, but the format must not rely on that.
        if parsed == nil || parsed != head.count {
            return try AccessRecordTests.record(principal: String(UnicodeScalar(byte)))
        }
        request.principal = String(UnicodeScalar(byte))
        return AccessRecord(
            request: request, status: .ok, bytesSent: 0, duration: .zero, time: Timestamp(seconds: 0),
            connectionPeer: "", isComplete: true)
    }

    @Test(arguments: [AccessFormat.davit, .common, .combined])
    func everyByteRoundTrips(format: AccessFormat) throws {
        for byte in UInt8.min ... .max {
            let record = try Self.hostile(byte)
            var line: [UInt8] = []
            format.append(record, to: &line)
            #expect(line.allSatisfy { $0 >= 32 && $0 < 127 }, "byte \(byte)")
            let words = LogLine.words(line)
            let count = format == .davit ? 8 : format == .common ? 7 : 9
            #expect(words.count == count, "byte \(byte)")
            guard words.count == count else { continue }
            let name = words[format == .davit ? 1 : 2]
            #expect(name == Array((record.principal ?? "-").utf8), "byte \(byte)")
            let requestLine = Array("GET ".utf8) + record.target + Array(" HTTP/1.1".utf8)
            #expect(words[format == .davit ? 2 : 4] == requestLine, "byte \(byte)")
            if format == .combined {
                #expect(
                    words[8] == record.request?.bytes(of: .userAgent) ?? [UInt8(ascii: "-")], "byte \(byte)")
            }
        }
    }

    @Test func everyByteYieldsValidJSON() throws {
        for byte in UInt8.min ... .max {
            let record = try Self.hostile(byte)
            var line: [UInt8] = []
            AccessFormat.json.append(record, to: &line)
            #expect(!line.contains { $0 < 32 || $0 == 127 }, "byte \(byte)")
            let object = try #require(JSONReader.strings(in: line), "byte \(byte)")
            #expect(object["user"] == record.principal, "byte \(byte)")
            #expect(object["target"] == String(decoding: record.target, as: UTF8.self), "byte \(byte)")
            let agent = record.request?.bytes(of: .userAgent).map { String(decoding: $0, as: UTF8.self) }
            #expect(object["user_agent"] == agent, "byte \(byte)")
        }
    }

    static let texts: [(text: [UInt8], json: String)] = [
        (Array("ä€😀".utf8), "ä€😀"), ([0xC3], "\u{FFFD}"), ([0xFF, 0x41], "\u{FFFD}A"),
        ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xC2, 0x9B, 0x41], "\u{9B}A"),
        (Array("\u{2028}\u{202E}".utf8), "\u{2028}\u{202E}"),
    ]

    @Test(arguments: texts)
    func nonASCIITextRemainsReadable(text: [UInt8], json: String) throws {
        let request = HTTPRequest()
        var parser = HeadParser()
        let head = Array("GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: ".utf8) + text + Array("\r\n\r\n".utf8)
        _ = try unsafe head.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
        let record = AccessRecord(
            request: request, status: .ok, bytesSent: 0, duration: .zero, time: Timestamp(seconds: 0),
            connectionPeer: "", isComplete: true)
        var line: [UInt8] = []
        AccessFormat.json.append(record, to: &line)
        #expect(JSONReader.strings(in: line)?["user_agent"] == json)
        // Control characters of ISO 6429 must not reach a terminal.
        #expect(!String(decoding: line, as: UTF8.self).unicodeScalars.contains { 0x80..<0xA0 ~= $0.value })
    }
}

/// Splits a log line into words, some of which are in quotes or brackets, like a log analysis program.
enum LogLine {
    static func words(_ line: [UInt8]) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var index = 0
        while index < line.count {
            let closing: UInt8
            switch line[index] {
            case UInt8(ascii: "\""): closing = UInt8(ascii: "\"")
            // Only the time is in brackets; a user name may begin with a bracket.
            case UInt8(ascii: "[") where words.count == 3: closing = UInt8(ascii: "]")
            default: closing = UInt8(ascii: " ")
            }
            if closing != UInt8(ascii: " ") { index += 1 }
            let end = line[index...].firstIndex(of: closing) ?? line.count
            words.append(unescaped(line[index..<end]))
            index = closing == UInt8(ascii: " ") ? end + 1 : end + 2
        }
        return words
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

/// A strict parser for one JSON object without nesting (RFC 8259); returns nil for anything else.
struct JSONReader {
    private var rest: ArraySlice<Character>

    /// Returns the members with string values.
    static func strings(in line: [UInt8]) -> [String: String]? {
        guard let text = String(validating: line, as: UTF8.self) else { return nil }
        var reader = JSONReader(rest: Array(text.unicodeScalars.map(Character.init))[...])
        guard let object = reader.object(), reader.rest.isEmpty else { return nil }
        return object
    }

    private mutating func object() -> [String: String]? {
        guard rest.popFirst() == "{" else { return nil }
        var members: [String: String] = [:]
        var names = Set<String>()
        while true {
            guard let name = string(), names.insert(name).inserted, rest.popFirst() == ":" else { return nil }
            if rest.first == "\"" {
                guard let value = string() else { return nil }
                members[name] = value
            } else {
                let literal = String(rest.prefix { $0 != "," && $0 != "}" })
                guard ["true", "false", "null"].contains(literal) || Double(literal) != nil else {
                    return nil
                }
                rest = rest.dropFirst(literal.count)
            }
            switch rest.popFirst() {
            case ",": continue
            case "}": return members
            default: return nil
            }
        }
    }

    private mutating func string() -> String? {
        guard rest.popFirst() == "\"" else { return nil }
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                switch rest.popFirst() {
                case "\"": text.append("\"")
                case "\\": text.append("\\")
                case "u":
                    guard let code = UInt32(String(rest.prefix(4)), radix: 16),
                        let scalar = UnicodeScalar(code)
                    else { return nil }
                    text.unicodeScalars.append(scalar)
                    rest = rest.dropFirst(4)
                default: return nil
                }
            default:
                guard let scalar = character.unicodeScalars.first, scalar.value >= 32 else { return nil }
                text.unicodeScalars.append(scalar)
            }
        }
        return nil
    }
}
