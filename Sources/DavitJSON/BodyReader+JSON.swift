internal import DavitHTTP
public import DavitServer

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension BodyReader where Value: Decodable & Sendable {
    /// Reads JSON (RFC 8259) in UTF-8, sent as `application/json` or as a type that ends in `+json`.
    ///
    /// Dates are RFC 3339 text, and data is Base64. Content of any other type is refused with 415, which
    /// includes everything that a page from another origin can send without a preflight request. Text in
    /// UTF-16 or UTF-32, which older editions of the RFC allowed, is also refused with 415, content over the
    /// limit or nested too deeply with 413, malformed JSON with 400 and the byte offset of the error, and
    /// JSON that does not match `type` with 422 and the path of the mismatch.
    public static func json(_ type: Value.Type = Value.self, limitBytes: Int = 1 << 20) -> Self {
        Self { request in
            try checkType(of: request)
            let bytes = try await request.content(limitBytes: limitBytes)
            let start = try JSONCoding.check(bytes)
            return try JSONCoding.decode(type, from: bytes[start...])
        }
    }

    private static func checkType(of request: HTTPRequest) throws(HTTPError) {
        guard let type = request.contentType,
            type.essence == "application/json" || type.essence.hasSuffix("+json")
        else { throw HTTPError(.unsupportedMediaType, "The content must be JSON.") }
        // The type has no charset parameter (§11); if one is given anyway, it must be compatible.
        guard let label = type.parameters["charset"] else { return }
        switch try? Charset(label: label) {
        case .utf8, .usASCII: return
        default: throw .notUTF8
        }
    }
}

/// Converts between JSON text and values.
enum JSONCoding {
    /// - Returns: the offset at which the text begins, after the byte order mark, if any (§8.1).
    static func check(_ bytes: [UInt8]) throws(HTTPError) -> Int {
        // §8.1 requires UTF-8. Other encodings are detected as in RFC 4627 §3: JSON begins with two ASCII
        // characters.
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
                throw HTTPError(.badRequest, "Malformed JSON at byte \(offset).")
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

    /// Returns the reason to send to the client. It never includes values, which may be secret; the names are
    /// those of the program's types, or keys of a dictionary.
    private static func refusal(_ error: DecodingError?) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "The JSON body has no \(path(context.codingPath + [key]))."
        case .typeMismatch(_, let context):
            "The JSON body has a value of the wrong type\(place(context.codingPath))."
        case .valueNotFound(_, let context):
            "The JSON body has an unexpected null\(place(context.codingPath))."
        case .dataCorrupted(let context):
            "The JSON body has an invalid value\(place(context.codingPath))."
        default: "The JSON does not have the expected structure."
        }
    }

    /// Returns the place of an error as text, such as ` at items[2].name`; empty if the decoder reports no
    /// path, as for numbers that are out of range.
    private static func place(_ keys: [any CodingKey]) -> String { keys.isEmpty ? "" : " at \(path(keys))" }

    /// Returns the path in the form `items[2].name`.
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
        HTTPError(.unsupportedMediaType, "The JSON must be encoded in UTF-8.")
    }
}
