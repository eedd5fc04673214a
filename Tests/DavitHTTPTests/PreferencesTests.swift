import DavitHTTP
import Testing

struct PreferencesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [String]
        var result: Preferences.Return?
        var excludesRoot: Bool
        var testDescription: String { "\(fields)" }

        init(_ fields: [String], _ result: Preferences.Return?, _ excludesRoot: Bool = false) {
            self.fields = fields
            self.result = result
            self.excludesRoot = excludesRoot
        }
    }

    /// RFC 7240 §2, §4.2, RFC 8144 §4.
    static let rows: [Row] = [
        Row([], nil), Row(["return=minimal"], .minimal), Row(["return=representation"], .representation),
        Row(["Return=Minimal"], .minimal), Row(["return=\"minimal\""], .minimal),
        Row(["return = minimal"], .minimal),
        Row(["depth-noroot"], nil, true), Row(["Depth-NoRoot"], nil, true),
        Row(["depth-noroot=\"\""], nil, true),
        Row(["return=minimal, depth-noroot"], .minimal, true),
        Row(["return=minimal", "depth-noroot"], .minimal, true),
        Row(
            ["respond-async, wait=10;x=\"a, b\", return=minimal; foo=\"some, thing\", depth-noroot"],
            .minimal, true),
        // The first of two values applies, even if it is unknown.
        Row(["return=minimal, return=representation"], .minimal),
        Row(["return=nothing, return=minimal"], nil),
        // Malformed preferences and text in quoted strings are ignored.
        Row(["return"], nil), Row(["return="], nil), Row(["minimal"], nil), Row(["return=minimally"], nil),
        Row(["x=\"return=minimal, depth-noroot\""], nil), Row(["x=\"\\\", depth-noroot"], nil),
        Row(["=minimal,,;, return=minimal"], .minimal), Row(["depth-noroot=1"], nil), Row([""], nil),
        Row(["return=\"minimal"], nil), Row(["x=\"\\\"\", depth-noroot"], nil, true),
    ]

    @Test(arguments: rows)
    func preferencesAreParsed(row: Row) throws {
        let preferences = Preferences(of: try request(fields: row.fields.map { "Prefer: \($0)" }))
        #expect(preferences.result == row.result)
        #expect(preferences.excludesRoot == row.excludesRoot)
    }
}
