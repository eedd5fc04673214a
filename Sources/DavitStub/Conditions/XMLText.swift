internal import DavitXML

/// XML content of requests.
enum XMLText {
    private static let limits: XMLLimits = {
        var limits = XMLLimits()
        limits.bytes = ReceivedContent.keptBytes
        limits.depth = 100
        limits.nodes = 500_000
        return limits
    }()

    /// Parses content without entities and without access to the network.
    /// - Throws: the problem, which begins with `is not`.
    static func parse(_ bytes: [UInt8]) throws(Unreadable) -> XMLDocument {
        do throws(XMLError) { return try XMLDocument.parse(bytes, limits: limits) } catch {
            let error = XMLSchemaError(error)
            throw Unreadable(problem: "is not well-formed XML: line \(error.line): \(error.message)")
        }
    }

    struct Unreadable: Error {
        var problem: String
    }

    /// Returns why content is not well-formed; nil if it is.
    static func problem(of bytes: [UInt8]) -> String? {
        do throws(Unreadable) {
            _ = try parse(bytes)
            return nil
        } catch {
            return error.problem
        }
    }
}

extension XPathExpression {
    /// Returns the texts that the expression finds: one for a string or a number, `true` if it is true, none if it is
    /// false or the evaluation fails.
    func texts(in content: [UInt8]) throws(XMLText.Unreadable) -> [String] {
        let document = try XMLText.parse(content)
        return switch try? evaluate(in: document) {
        case .texts(let texts): texts
        case .boolean(true): ["true"]
        case .boolean(false), nil: []
        }
    }
}

/// A schema in a rule, or in a file in the folder of the database.
struct SchemaTest: Sendable {
    private let schema: XMLSchema

    /// - Parameter source: the schema if it begins with `<`, else the name of its file in `folder`.
    /// - Throws: ``RuleError`` for a schema that cannot be used, or a missing file.
    init(_ source: String, _ language: XMLSchema.Language, column: String, folder: String) throws(RuleError) {
        let isInline = source.drop(while: \.isWhitespace).hasPrefix("<")
        let text = isInline ? source : try StubFile.text(source, in: folder, column: column)
        do throws(XMLSchemaError) { schema = try XMLSchema(Array(text.utf8), language: language) } catch {
            throw RuleError(column: column, "not a valid schema: line \(error.line): \(error.message)")
        }
    }

    /// Returns what is wrong with content; nil if it is valid.
    func problem(of bytes: [UInt8]) -> String? {
        do throws(XMLText.Unreadable) {
            let error = schema.firstError(in: try XMLText.parse(bytes))
            return error.map { "is not valid: line \($0.line): \($0.message)" }
        } catch {
            return error.problem
        }
    }
}
