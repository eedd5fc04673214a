import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitPage
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// Any valid name survives PUT, hrefs, GET, the links of the page, Destination and the tags of `If`
/// unchanged.
struct NameSurvivalTests {
    private let page: TestPage
    private var client: TestClient<WebDAVHandler> { page.client }

    init() throws { page = try TestPage(in: "/dev/shm") }

    static let chosen: [[UInt8]] =
        [
            "%", "%25", "%2541", "#", "?", "a?b=c", "+", "a+b", "&", "&amp;", ";", "=", " ", "  a  ", "'",
            "\"", "<b>", "\\",
            ":", "C:", "...", ".a", "a.", "a ", "~$a.docx", "._a", ".DS_Store", "CON", "NUL", "desktop.ini",
            "*", "|", "`",
            "{a}", "[a]", "^", "javascript:x", "http:", "--", "\u{1}\u{1F}\u{7F}", "a\nb", "a\rb", "a\tb",
            "\u{85}", "\u{A0}",
            "\u{FEFF}a", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{202E}gpj.exe", "\u{5D0}\u{5D1}",
            "\u{627}\u{644}",
            "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{1F1E9}\u{1F1EA}", "\u{301}", "a\u{301}\u{301}",
            "\u{E000}",
            "\u{10FFFF}", "\u{378}", "\u{2028}", "\u{200B}", "\u{ED55}", "]]>", "<!--", "a\u{338}",
        ].map { Array($0.utf8) } + [
            [0xFF], [0x61, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF],
            [UInt8](repeating: 0xFE, count: 255),
            [UInt8](repeating: 0x25, count: 255),
        ]

    @Test func chosenNamesArePreserved() async throws {
        for name in Self.chosen { try await check([name]) }
        try await check(Self.chosen)
    }

    @Test(arguments: TestExtent.sample(of: [1, 2, 3] as [UInt64], every: 3))
    func randomNamesArePreserved(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<4 {
            var seen = Set<String>()
            var names: [[UInt8]] = []
            while names.count < 100 {
                let name = Self.name(&generator)
                if seen.insert(name).inserted { names.append(Array(name.utf8)) }
            }
            try await check(names)
        }
    }

    /// Returns a random name of up to 255 bytes with all kinds of characters.
    private static func name(_ generator: inout SeededGenerator) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x21...0x2F, 0x1...0x1F, 0x7F...0xFF, 0x300...0x36F, 0x370...0x3FF, 0x590...0x6FF,
            0x1100...0x11FF, 0xAC00...0xD7A3, 0x2000...0x206F, 0xE000...0xF8FF, 0xFB00...0xFFFF,
            0x1F300...0x1FAFF,
            0xE0000...0xE01EF, 0x40000...0x40FFF, 0x100000...0x10FFFF,
        ]
        while true {
            let limit = Bool.random(using: &generator) ? Int.random(in: 1...8, using: &generator) : 255
            var name = String.UnicodeScalarView()
            while true {
                let range = ranges.randomElement(using: &generator) ?? 0x20...0x7E
                guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)), scalar != "/"
                else {
                    continue
                }
                var longer = name
                longer.append(scalar)
                if String(longer).utf8.count > limit { break }
                name = longer
            }
            let text = String(name)
            if text.isEmpty || text == "." || text == ".." { continue }
            // These three characters are canonically equivalent to ASCII characters, so two generated names
            // could be the same.
            if text.unicodeScalars.contains(where: { [0x37E, 0x1FEF, 0x212A].contains($0.value) }) {
                continue
            }
            return text
        }
    }

    private func check(_ names: [[UInt8]]) async throws {
        #expect(try await client.send("MKCOL", "/d").status == 201)
        for (number, name) in names.enumerated() {
            // Some clients escape more characters than others.
            let status = try await client.send("PUT", "/d/" + Self.spelled(name, number), text: "\(number)")
                .status
            #expect(status == 201, "\(name)")
        }
        try await checkListings(names, in: "/d")
        #expect(try await client.send("MKCOL", "/e").status == 201)
        for (number, name) in names.enumerated() {
            let destination =
                (number.isMultiple(of: 2) ? "http://localhost" : "") + "/e/" + Self.spelled(name, number / 2)
            let method = number % 3 == 0 ? "COPY" : "MOVE"
            let source = "/d/" + Self.spelled(name, number + 1)
            #expect(
                try await client.send(method, source, [("Destination", destination)]).status == 201, "\(name)"
            )
            let tag = try await client.send("HEAD", "/e/" + Self.spelled(name, 0))["ETag"] ?? ""
            let condition = ("If", "<http://localhost/e/\(Self.spelled(name, number))> ([\(tag)])")
            let changed = try await client.send("PROPPATCH", "/e/", [condition], text: Self.patch)
            #expect(changed.status == 207, "\(name)")
        }
        try await checkListings(names, in: "/e")
        #expect(try await client.send("DELETE", "/d").status == 204)
        #expect(try await client.send("DELETE", "/e").status == 204)
    }

    /// Checks that the hrefs of a PROPFIND and the links of the page match the names exactly.
    private func checkListings(_ names: [[UInt8]], in collection: String) async throws {
        let properties = try await client.send("PROPFIND", collection, [("Depth", "1")])
        let page = try await page.get(collection + "/")
        for body in [properties.body, page.body] {
            #expect(String(validating: body, as: UTF8.self) != nil)
            #expect(!body.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) })
        }
        let hrefs = properties.text.between("<D:href>", "</D:href>").dropFirst()
        let rows = page.text.between("<th scope=\"row\"", "</th>")
        let links = rows.compactMap { $0.between("href=\"./", "\"").first }
        for (targets, prefix) in [(Array(hrefs), ""), (links, collection + "/")] {
            var found = Set<[UInt8]>()
            for target in targets {
                let last = target.split(separator: "/").last.map { Array($0.utf8) } ?? []
                let name = try #require(PercentCoding.decode(last))
                found.insert(name)
                guard let number = names.firstIndex(of: name) else { continue }
                let answer = try await client.send("GET", prefix + target)
                #expect(answer.text == "\(number)", "\(name)")
            }
            #expect(found == Set(names), "\(collection)")
        }
    }

    private static let patch =
        "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop><x xmlns=\"urn:x\">1</x></D:prop></D:set></D:propertyupdate>"

    /// Encodes a name in one of several equivalent ways.
    private static func spelled(_ name: [UInt8], _ way: Int) -> String {
        var text: [UInt8] = []
        switch way % 3 {
        case 0: PercentCoding.append(name, to: &text)
        case 1:
            for byte in name { text += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8) }
        default:
            for byte in name {
                let stays = byte.isLetterOrDigit || "-._~!$&'()*+,;=:@".utf8.contains(byte)
                if stays { text.append(byte) } else { PercentCoding.append([byte], to: &text) }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}

extension String {
    /// Returns the texts between each pair of delimiters, compared as bytes.
    fileprivate func between(_ start: String, _ end: String) -> [String] {
        let (text, start, end) = (Array(utf8), Array(start.utf8), Array(end.utf8))
        var found: [String] = []
        var index = 0
        while index + start.count <= text.count {
            guard text[index...].starts(with: start) else {
                index += 1
                continue
            }
            let first = index + start.count
            index = first
            while index < text.count, !text[index...].starts(with: end) { index += 1 }
            found.append(String(decoding: text[first..<index], as: UTF8.self))
        }
        return found
    }
}
