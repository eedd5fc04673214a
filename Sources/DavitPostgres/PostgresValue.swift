#if Postgres
/// A value of a parameter, sent in the binary format of its type; nil for NULL.
package enum PostgresValue: Hashable, Sendable {
    /// NULL, of the type that the server expects.
    case null
    /// `bigint`.
    case integer(Int64?)
    /// `boolean`.
    case flag(Bool?)
    /// `text`. The server refuses a null character.
    case text(String?)
    /// `bytea`.
    case bytes([UInt8]?)
    /// `uuid`.
    case uuid(PostgresUUID?)
    /// `timestamptz`, in nanoseconds since 1970-01-01T00:00:00Z; rounded down to microseconds.
    case time(Int64?)
    /// `xid8`, the number of a transaction.
    case transactionID(UInt64?)
    /// `bigint[]`.
    case integers([Int64])
    /// `bytea[]`.
    case byteStrings([[UInt8]])

    /// The number of the type in the catalog `pg_type`. The numbers of built-in types never change.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .integer: 20
        case .flag: 16
        case .text: 25
        case .bytes: 17
        case .uuid: 2950
        case .time: 1184
        case .transactionID: 5069
        case .integers: 1016
        case .byteStrings: 1001
        }
    }

    /// Appends the value in its binary format. Returns false, without appending, for NULL.
    func encode(into buffer: inout [UInt8]) -> Bool {
        switch self {
        case .null, .integer(nil), .flag(nil), .text(nil), .bytes(nil), .uuid(nil), .time(nil),
            .transactionID(nil):
            return false
        case .integer(let value?): buffer.append(bigEndian: value)
        case .flag(let value?): buffer.append(value ? 1 : 0)
        case .text(let value?): buffer.append(contentsOf: value.utf8)
        case .bytes(let value?): buffer.append(contentsOf: value)
        case .uuid(let value?):
            buffer.append(bigEndian: value.high)
            buffer.append(bigEndian: value.low)
        case .time(let value?): buffer.append(bigEndian: PostgresTime.microseconds(ofNanoseconds: value))
        case .transactionID(let value?): buffer.append(bigEndian: value)
        case .integers(let values):
            buffer.appendArrayHead(count: values.count, elementType: 20)
            for value in values {
                buffer.append(bigEndian: Int32(8))
                buffer.append(bigEndian: value)
            }
        case .byteStrings(let values):
            buffer.appendArrayHead(count: values.count, elementType: 17)
            for value in values {
                buffer.append(bigEndian: Int32(value.count))
                buffer.append(contentsOf: value)
            }
        }
        return true
    }
}

/// A value of type `uuid`.
package struct PostgresUUID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns 128 bits of the system's random number generator.
    package static func random() -> PostgresUUID {
        PostgresUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

/// Conversion of `timestamptz`, which counts microseconds from 2000-01-01T00:00:00Z.
enum PostgresTime {
    private static let epoch: Int64 = 946_684_800_000_000

    static func microseconds(ofNanoseconds nanoseconds: Int64) -> Int64 {
        let microseconds = nanoseconds / 1000 - (nanoseconds % 1000 < 0 ? 1 : 0)
        return microseconds - epoch
    }

    /// Clamped to the range of `Int64`, because `timestamptz` also has infinities.
    static func nanoseconds(ofMicroseconds microseconds: Int64) -> Int64 {
        let (sum, isAbove) = microseconds.addingReportingOverflow(epoch)
        let (product, isOutside) = sum.multipliedReportingOverflow(by: 1000)
        return isAbove || isOutside ? (microseconds < 0 ? .min : .max) : product
    }
}

extension [UInt8] {
    fileprivate mutating func append<Value: FixedWidthInteger>(bigEndian value: Value) {
        var shift = Value.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// One dimension with the lower bound 1, without NULL; an empty array has no dimension.
    fileprivate mutating func appendArrayHead(count: Int, elementType: UInt32) {
        append(bigEndian: Int32(count == 0 ? 0 : 1))
        append(bigEndian: Int32(0))
        append(bigEndian: elementType)
        guard count > 0 else { return }
        append(bigEndian: Int32(count))
        append(bigEndian: Int32(1))
    }
}
#endif
