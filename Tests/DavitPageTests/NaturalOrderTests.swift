import DavitListing
import Testing

struct NaturalOrderTests {
    /// Each array is sorted.
    static let ordered: [[String]] = [
        ["a", "B", "c"],
        ["file 2", "file 10", "file 100"],
        ["1.9", "1.10"],
        ["a", "a1", "ab"],
        // Names that differ only in case or zeros still have an order.
        ["A", "a"],
        ["file 01", "file 1", "file 2"],
        // Numbers that exceed any integer type.
        ["99999999999999999999998", "99999999999999999999999", "100000000000000000000000"],
        ["", "a"],
    ]

    @Test(arguments: ordered)
    func namesAreSortedInNaturalOrder(names: [String]) {
        let names = names.map { Array($0.utf8) }
        for (index, a) in names.enumerated() {
            for (other, b) in names.enumerated() {
                #expect(NaturalOrder.precedes(a, b) == (index < other))
            }
        }
    }

    // Sorting requires a strict order: exactly one of two different names precedes the other, and the order
    // is transitive.
    @Test func orderIsStrict() {
        let alphabet = Array("a0A1".utf8)
        var names: [[UInt8]] = [[]]
        for name in names + alphabet.map({ [$0] }) { names += alphabet.map { name + [$0] } }
        names = Array(Set(names))
        for a in names {
            for b in names {
                #expect((NaturalOrder.precedes(a, b) || NaturalOrder.precedes(b, a)) == (a != b))
                #expect(!(NaturalOrder.precedes(a, b) && NaturalOrder.precedes(b, a)))
                for c in names where NaturalOrder.precedes(a, b) && NaturalOrder.precedes(b, c) {
                    #expect(NaturalOrder.precedes(a, c))
                }
            }
        }
    }
}
