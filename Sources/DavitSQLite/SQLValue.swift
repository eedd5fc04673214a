/// A value for a statement parameter.
package enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package static func bits(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
    package static func optional(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    package static func optional(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    package static func optional(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}
