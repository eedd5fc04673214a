import DavitTesting
import Testing

@testable import DavitAccess

struct RuledNamesTests {
    private func name(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 1...40, using: &generator)).map { _ in .random(in: 0x20...0x7E, using: &generator)
        }
    }

    /// A name in the set must never be ruled out: its rule would not apply.
    @Test(arguments: [0, 1, 5, 64, 1000])
    func namesInTheSetAreNeverRuledOut(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let names = (0..<count).map { _ in name(&generator) }
        let filter = RuledNames(names)
        for name in names { #expect(filter.mayContain(name)) }
    }

    /// Sets of names that differ only in one place: at the front, in the middle or at the end.
    @Test(arguments: ["*-document.txt", "document-*.txt", "document.txt-*", "*"])
    func mostOtherNamesAreRuledOut(pattern: String) {
        func names(_ range: Range<Int>) -> [[UInt8]] {
            range.map { number in
                Array(pattern.utf8).flatMap { $0 == UInt8(ascii: "*") ? Array("\(number)".utf8) : [$0] }
            }
        }
        let filter = RuledNames(names(1000..<2000))
        #expect(names(1000..<2000).allSatisfy(filter.mayContain))
        #expect(names(2000..<10_000).count(where: filter.mayContain) < 8000 / 5)
    }

    /// Their equivalence keys differ from their bytes.
    @Test func namesThatAreNotASCIIAreNotRuledOut() {
        let filter = RuledNames([Array("a".utf8)])
        for name in ["é", "e\u{301}", "aaaaaaa\u{FC}", "12345678\u{FC}"] {
            #expect(filter.mayContain(Array(name.utf8)))
        }
        #expect(!filter.mayContain(Array("b".utf8)))
    }
}
