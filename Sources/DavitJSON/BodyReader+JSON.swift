internal import DavitHTTP
public import DavitServer

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension BodyReader where Value: Decodable & Sendable {
    /// JSON (RFC 8259) in UTF-8, sent as `application/json` or as a type that ends in `+json`.
    ///
    /// Dates are text as in RFC 3339, data is Base64. Content of any other type is 415: what a page of another site can
    /// send without asking is not read. So is text in UTF-16 or UTF-32, which older editions of the RFC had. Content over
    /// the limit is 413, text that is no JSON 400 with the byte where it goes wrong, and JSON that does not have the form
    /// of `type` is 422 with the path to what does not.
    public static func json(_ type: Value.Type = Value.self, limitBytes: Int = 1 << 20) -> Self {
        Self { request in
            try checkType(of: request)
            let bytes = try await request.content(limitBytes: limitBytes)
            let start = try JSONText.check(bytes)
            return try JSONText.decode(type, from: bytes[start...])
        }
    }

    private static func checkType(of request: HTTPRequest) throws(HTTPError) {
        guard let type = request.contentType,
            type.essence == "application/json" || type.essence.hasSuffix("+json")
        else { throw HTTPError(.unsupportedMediaType, "JSON is expected here.") }
        // The type has no charset (§11); one that is named must not be another.
        guard let label = type.parameters["charset"] else { return }
        switch try? Charset(label: label) {
        case .utf8, .usASCII: return
        default: throw .notUTF8
        }
    }
}

/// JSON between bytes and values.
enum JSONText {
    /// - Returns: where the text begins: a byte order mark is not part of it (§8.1).
    static func check(_ bytes: [UInt8]) throws(HTTPError) -> Int {
        // §8.1, and RFC 4627 §3 for how others can be told: JSON begins with two ASCII characters.
        let begin = bytes.prefix(4)
        if begin.prefix(2).contains(0) || begin.starts(with: [0xFF, 0xFE])
            || begin.starts(with: [0xFE, 0xFF])
        {
            throw .notUTF8
        }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        do throws(JSONSyntax.Failure) { try JSONSyntax.check(bytes.span, from: start) } catch {
            switch error {
            case .malformed(let offset):
                throw HTTPError(.badRequest, "The JSON is malformed at byte \(offset).")
            case .tooDeep(let offset, let limit):
                throw HTTPError(
                    .contentTooLarge, "The JSON is nested deeper than \(limit) levels at byte \(offset).")
            }
        }
        return start
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: ArraySlice<UInt8>
    ) throws(HTTPError) -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch {
            throw HTTPError(.unprocessableContent, refusal(error as? DecodingError))
        }
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .withoutEscapingSlashes
        return Array(try encoder.encode(value))
    }

    /// No values, which can be secrets; names are those of the program's types, or keys of a dictionary.
    private static func refusal(_ error: DecodingError?) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "The JSON has no \(path(context.codingPath + [key]))."
        case .typeMismatch(_, let context):
            "The JSON has another type of value\(place(context.codingPath))."
        case .valueNotFound(_, let context):
            "The JSON has null\(place(context.codingPath))."
        case .dataCorrupted(let context):
            "The JSON has a value that is not possible\(place(context.codingPath))."
        default: "The JSON does not have the form that is expected."
        }
    }

    /// Nothing where the decoder does not tell, as for numbers that do not fit.
    private static func place(_ keys: [any CodingKey]) -> String { keys.isEmpty ? "" : " at \(path(keys))" }

    /// As in `items[2].name`.
    private static func path(_ keys: [any CodingKey]) -> String {
        var text = ""
        for key in keys {
            if let place = key.intValue {
                text += "[\(place)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return text
    }
}

extension HTTPError {
    fileprivate static var notUTF8: HTTPError {
        HTTPError(.unsupportedMediaType, "The JSON must be in UTF-8.")
    }
}
