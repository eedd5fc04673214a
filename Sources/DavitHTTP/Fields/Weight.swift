/// A preference weight, the parameter `q` (RFC 9110 §12.4.2).
public struct Weight: Hashable, Comparable, Sendable {
    /// The weight in thousandths, 0 to 1000.
    public let thousandths: UInt16

    /// The weight 0: not acceptable.
    public static let zero = Weight(thousandths: 0)
    /// The default weight without `q`.
    public static let full = Weight(thousandths: 1000)

    private init(thousandths: UInt16) { self.thousandths = thousandths }

    /// Parses `( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )`; returns nil for anything else.
    public init?(parsing value: borrowing Span<UInt8>) {
        guard value.count >= 1, value.count <= 5, value.count < 2 || value[1] == UInt8(ascii: ".") else {
            return nil
        }
        var number: UInt16 = 0
        var scale: UInt16 = 1000
        for index in 0..<value.count where index != 1 {
            guard value[index].isDigit else { return nil }
            number += UInt16(value[index] - 48) * scale
            scale /= 10
        }
        guard number <= 1000 else { return nil }
        thousandths = number
    }

    public static func < (a: Weight, b: Weight) -> Bool { a.thousandths < b.thousandths }
}
