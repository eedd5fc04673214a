#if QRCode
import DavitQRCode
import Testing

struct QRCodeTests {
    /// §6.3.3: the finder patterns in three corners.
    @Test func codeHasThreeFinderPatterns() throws {
        let code = try #require(QRCode(encoding: "http://192.0.2.1:8080/"))
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for (top, left) in [(0, 0), (0, code.size - 7), (code.size - 7, 0)] {
            let seen = (0..<7).map { row in
                (0..<7).map { code.isDark(row: top + row, column: left + $0) ? "1" : "0" }.joined()
            }
            #expect(seen == finder)
        }
        #expect(!code.isDark(row: -1, column: 0) && !code.isDark(row: 0, column: code.size))
    }

    /// Decodes codes of the smallest size as a scanner does, but without error correction.
    @Test(arguments: ["http://a.b/c", "ä", "12345678901234"])
    func codeCanBeDecoded(text: String) throws {
        let code = try #require(QRCode(encoding: text))
        #expect(code.size == 21)
        #expect(Self.read(code) == Array(text.utf8))
    }

    /// §7.11: version 1 with correction M has 16 bytes of data, in one block.
    static func read(_ code: QRCode) -> [UInt8] {
        // §7.9: the mask number is in the format information next to the upper left corner; the format
        // information is itself masked.
        let mask = (0..<3).reduce(0) { $0 << 1 | (code.isDark(row: 8, column: 2 + $1) ? 1 : 0) } ^ 0b101
        var bits: [Bool] = []
        var isUpward = true
        for right in [20, 18, 16, 14, 12, 10, 8, 5, 3, 1] {
            for step in 0..<21 {
                let row = isUpward ? 20 - step : step
                for column in [right, right - 1] where isData(row, column) {
                    bits.append(code.isDark(row: row, column: column) != isMasked(row, column, mask))
                }
            }
            isUpward.toggle()
        }
        let byte = { (start: Int) in bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) } }
        // §7.4: four bits for the mode, then the character count.
        guard bits[..<4].elementsEqual([false, true, false, false]) else { return [] }
        return (0..<Int(byte(4))).map { byte(12 + 8 * $0) }
    }

    private static func isData(_ row: Int, _ column: Int) -> Bool {
        if row == 6 || column == 6 { return false }
        return !(row <= 8 && column <= 8 || row <= 8 && column >= 13 || row >= 13 && column <= 8)
    }

    /// Table 10 of the standard.
    private static func isMasked(_ i: Int, _ j: Int, _ mask: Int) -> Bool {
        switch mask {
        case 0: (i + j) % 2 == 0
        case 1: i % 2 == 0
        case 2: j % 3 == 0
        case 3: (i + j) % 3 == 0
        case 4: (i / 2 + j / 3) % 2 == 0
        case 5: i * j % 2 + i * j % 3 == 0
        case 6: (i * j % 2 + i * j % 3) % 2 == 0
        default: ((i + j) % 2 + i * j % 3) % 2 == 0
        }
    }

    @Test func excessiveTextHasNoCode() {
        #expect(QRCode(encoding: "") == nil)
        #expect(QRCode(encoding: String(repeating: "a", count: 2331)) != nil)
        #expect(QRCode(encoding: String(repeating: "a", count: 2332)) == nil)
    }

    @Test func pictureHasAQuietZone() throws {
        let code = try #require(QRCode(encoding: "a"))
        let picture = code.svg()
        #expect(picture.contains("viewBox=\"0 0 29 29\""))
        #expect(picture.contains("M4 4h7v1h-7z"))
        #expect(picture.contains("shape-rendering=\"crispEdges\""))
    }

    /// Each module in the terminal output matches the code, in both drawing styles.
    @Test(arguments: [false, true])
    func terminalOutputMatchesTheCode(isColored: Bool) throws {
        let code = try #require(QRCode(encoding: "http://192.0.2.1/"))
        let lines = code.terminalText(isColored: isColored).split(separator: "\n").map { line in
            line.replacing("\u{1B}[30;107m", with: "").replacing("\u{1B}[0m", with: "").map { $0 }
        }
        #expect(lines.count == (code.size + 4 + 1) / 2)
        for (index, line) in lines.enumerated() {
            for (column, block) in line.enumerated() {
                let drawn =
                    ["█": (true, true), "▀": (true, false), "▄": (false, true)][block] ?? (false, false)
                let row = 2 * index - 2
                #expect(code.isDark(row: row, column: column - 2) == (drawn.0 == isColored))
                #expect(code.isDark(row: row + 1, column: column - 2) == (drawn.1 == isColored))
            }
        }
    }
}
#endif
