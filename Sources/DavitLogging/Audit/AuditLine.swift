/// A record of an audit log, as it was read from a file.
package struct AuditLine: Sendable {
    /// A value of a record.
    package enum Value: Hashable, Sendable {
        case text(String)
        /// A number, or another value that is not a text.
        case other(String)
        case texts([String])
    }

    /// The JSON object, without a line end.
    package let bytes: [UInt8]
    private let values: [String: Value]

    /// - Returns: nil unless the line is one JSON object whose values are texts, numbers and lists of texts.
    package init?(parsing bytes: [UInt8]) {
        var parser = Parser(bytes: bytes)
        guard let values = parser.object() else { return nil }
        self.bytes = bytes
        self.values = values
    }

    /// Returns the text of a member; nil if it is missing or not a text.
    package func text(_ key: String) -> String? {
        if case .text(let text)? = values[key] { text } else { nil }
    }

    /// Returns the number of a member; nil if it is missing or not a number.
    package func number(_ key: String) -> Int64? {
        if case .other(let text)? = values[key] { Int64(text) } else { nil }
    }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        private mutating func take(_ character: Character) -> Bool {
            guard let next, next == character.asciiValue else { return false }
            position += 1
            return true
        }

        mutating func object() -> [String: Value]? {
            guard take("{") else { return nil }
            var values: [String: Value] = [:]
            repeat {
                guard let key = string(), take(":"), let value = value() else { return nil }
                values[key] = value
            } while take(",")
            return take("}") && position == bytes.count ? values : nil
        }

        private mutating func value() -> Value? {
            switch next {
            case UInt8(ascii: "\""): return string().map { .text($0) }
            case UInt8(ascii: "["):
                position += 1
                var texts: [String] = []
                if take("]") { return .texts([]) }
                repeat {
                    guard let text = string() else { return nil }
                    texts.append(text)
                } while take(",")
                return take("]") ? .texts(texts) : nil
            default:
                let start = position
                while let next, next != UInt8(ascii: ","), next != UInt8(ascii: "}") { position += 1 }
                return start == position
                    ? nil : .other(String(decoding: bytes[start..<position], as: UTF8.self))
            }
        }

        private mutating func string() -> String? {
            guard take("\"") else { return nil }
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escaped() else { return nil }
                    text.append(contentsOf: String(scalar).utf8)
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func escaped() -> Unicode.Scalar? {
            guard let byte = next else { return nil }
            position += 1
            guard byte == UInt8(ascii: "u") else { return Unicode.Scalar(byte) }
            guard position + 4 <= bytes.count else { return nil }
            let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
            position += 4
            return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
        }
    }
}
