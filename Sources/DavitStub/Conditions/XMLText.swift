internal import CXML2

/// XML content that is examined with libxml2: never from the network, without entities, and within libxml2's
/// limits of length and depth.
@safe struct XMLText: ~Copyable {
    let tree: xmlDocPtr

    /// The reason why content is not well-formed, for people.
    struct Malformed: Error {
        var text: String
    }

    private static let isLibraryReady: Bool = {
        xmlInitParser()
        return true
    }()

    private static let options = Int32(
        XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)

    /// Parses content.
    init(_ bytes: [UInt8]) throws(Malformed) {
        guard Self.isLibraryReady, let context = unsafe xmlNewParserCtxt() else {
            throw Malformed(text: "out of memory")
        }
        defer { unsafe xmlFreeParserCtxt(context) }
        let parsed = unsafe bytes.withUnsafeBytes { bytes in
            unsafe xmlCtxtReadMemory(
                context, bytes.bindMemory(to: CChar.self).baseAddress, Int32(clamping: bytes.count), nil, nil,
                Self.options)
        }
        guard let parsed = unsafe parsed, unsafe context.pointee.wellFormed != 0 else {
            if let parsed = unsafe parsed { unsafe xmlFreeDoc(parsed) }
            throw Malformed(text: Self.lastError(of: UnsafeMutableRawPointer(context)))
        }
        unsafe tree = parsed
    }

    deinit { unsafe xmlFreeDoc(tree) }

    /// Returns why content is not well-formed; nil if it is.
    static func problem(of bytes: [UInt8]) -> String? {
        do throws(Malformed) {
            _ = try XMLText(bytes)
            return nil
        } catch {
            return error.text
        }
    }

    @safe private static func lastError(of context: UnsafeMutableRawPointer) -> String {
        guard let error = unsafe xmlCtxtGetLastError(context) else { return "it is empty" }
        return unsafe text(of: error)
    }

    /// The message of an error with its line.
    static func text(of error: UnsafePointer<xmlError>) -> String {
        let message = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "unknown error"
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        return "line \(unsafe error.pointee.line): \(line)"
    }

    static func text(of error: UnsafeMutablePointer<xmlError>) -> String {
        unsafe text(of: UnsafePointer(error))
    }
}

/// An XPath 1.0 expression.
struct XMLPath: Sendable {
    /// The most values that an expression returns.
    private static let valueLimit = 1000

    let text: String
    private let namespaces: [(prefix: String, name: String)]

    /// Returns nil for a text that is not an expression, or uses a prefix without a namespace.
    init?(_ text: String, namespaces: [(String, String)]) {
        self.text = text
        self.namespaces = namespaces.map { (prefix: $0.0, name: $0.1) }
        // Whether prefixes are declared is only known when the expression is evaluated.
        guard case .success(.some) = evaluate(Array("<a/>".utf8)) else { return nil }
    }

    /// Returns the text of the nodes that the expression finds, or its result if it is not a set of nodes.
    func values(in content: [UInt8]) -> Result<[String], XMLText.Malformed> {
        evaluate(content).map { $0 ?? [] }
    }

    /// Returns nil values if the expression cannot be evaluated.
    private func evaluate(_ content: [UInt8]) -> Result<[String]?, XMLText.Malformed> {
        do throws(XMLText.Malformed) {
            let tree = try XMLText(content)
            return .success(evaluate(tree))
        } catch {
            return .failure(error)
        }
    }

    private func evaluate(_ document: borrowing XMLText) -> [String]? {
        guard let context = unsafe xmlXPathNewContext(document.tree) else { return nil }
        defer { unsafe xmlXPathFreeContext(context) }
        // Errors are reported by the result.
        unsafe davit_silence_xpath(context)
        unsafe context.pointee.opLimit = 1_000_000
        for (prefix, name) in namespaces {
            guard unsafe xmlXPathRegisterNs(context, prefix, name) == 0 else { return nil }
        }
        guard let result = unsafe xmlXPathEvalExpression(text, context) else { return nil }
        defer { unsafe xmlXPathFreeObject(result) }
        switch unsafe result.pointee.type {
        case XPATH_NODESET:
            guard let set = unsafe result.pointee.nodesetval else { return [] }
            var values: [String] = []
            for index in 0..<min(Int(unsafe set.pointee.nodeNr), Self.valueLimit) {
                guard let node = unsafe set.pointee.nodeTab[index], let text = unsafe xmlNodeGetContent(node)
                else {
                    continue
                }
                values.append(unsafe String(cString: text))
                unsafe davit_xml_free(text)
            }
            return values
        // An expression such as `count(//item) = 2` holds, or finds nothing.
        case XPATH_BOOLEAN: return unsafe result.pointee.boolval != 0 ? ["true"] : []
        case XPATH_NUMBER: return [ValueTest.text(unsafe result.pointee.floatval)]
        case XPATH_STRING:
            return unsafe result.pointee.stringval.map { [unsafe String(cString: $0)] } ?? []
        default: return nil
        }
    }
}

/// A RELAX NG or XML schema.
@safe final class XMLSchemaFile: @unchecked Sendable {
    @safe private enum Grammar {
        case relaxNG(xmlRelaxNGPtr)
        case xsd(xmlSchemaPtr)
    }

    /// Not changed after it has been parsed, so threads can share it.
    private let grammar: Grammar

    /// - Parameters:
    ///   - source: the schema, or the name of its file in `folder`.
    /// - Throws: ``RuleError`` for a schema that cannot be used, or a missing file.
    init(_ source: String, isRelaxNG: Bool, column: String, folder: String) throws(RuleError) {
        let text: String
        if source.drop(while: \.isWhitespace).hasPrefix("<") {
            text = source
        } else {
            text = try StubFile.text(source, in: folder, column: column)
        }
        // A schema must not read other files or addresses.
        for name in ["include", "import", "redefine", "externalRef", "override"]
        where text.contains("\(name) ") || text.contains("<\(name)/") {
            if text.contains("<\(name) ") || text.contains(":\(name) ") {
                throw RuleError(column: column, "a schema with '\(name)' is not supported")
            }
        }
        if let problem = XMLText.problem(of: Array(text.utf8)) {
            throw RuleError(column: column, "the schema is not well-formed XML: \(problem)")
        }
        let count = Int32(clamping: text.utf8.count)
        var grammar: Grammar?
        if isRelaxNG {
            if let parser = unsafe xmlRelaxNGNewMemParserCtxt(text, count) {
                unsafe davit_silence_relax_ng_parser(parser)
                grammar = unsafe xmlRelaxNGParse(parser).map { unsafe .relaxNG($0) }
                unsafe xmlRelaxNGFreeParserCtxt(parser)
            }
        } else if let parser = unsafe xmlSchemaNewMemParserCtxt(text, count) {
            unsafe davit_silence_schema_parser(parser)
            grammar = unsafe xmlSchemaParse(parser).map { unsafe .xsd($0) }
            unsafe xmlSchemaFreeParserCtxt(parser)
        }
        guard let grammar else { throw RuleError(column: column, "not a valid schema") }
        self.grammar = grammar
    }

    deinit {
        switch grammar {
        case .relaxNG(let schema): unsafe xmlRelaxNGFree(schema)
        case .xsd(let schema): unsafe xmlSchemaFree(schema)
        }
    }

    /// Returns what is wrong with content; nil if it is valid.
    func problem(of bytes: [UInt8]) -> String? {
        do throws(XMLText.Malformed) {
            let document = try XMLText(bytes)
            return problem(of: document)
        } catch {
            return "is not well-formed XML: \(error.text)"
        }
    }

    private func problem(of document: borrowing XMLText) -> String? {
        var error = unsafe xmlError()
        defer { unsafe xmlResetError(&error) }
        let result: Int32
        switch grammar {
        case .relaxNG(let schema):
            guard let context = unsafe xmlRelaxNGNewValidCtxt(schema) else { return "cannot be validated" }
            unsafe davit_keep_relax_ng_error(context, &error)
            result = unsafe xmlRelaxNGValidateDoc(context, document.tree)
            unsafe xmlRelaxNGFreeValidCtxt(context)
        case .xsd(let schema):
            guard let context = unsafe xmlSchemaNewValidCtxt(schema) else { return "cannot be validated" }
            unsafe davit_keep_schema_error(context, &error)
            result = unsafe xmlSchemaValidateDoc(context, document.tree)
            unsafe xmlSchemaFreeValidCtxt(context)
        }
        if result == 0 { return nil }
        return "is not valid: \(unsafe withUnsafePointer(to: error) { unsafe XMLText.text(of: $0) })"
    }
}
