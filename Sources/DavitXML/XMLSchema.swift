internal import CXML2
internal import Synchronization

/// Why a schema is refused, or why a document does not match it.
package struct XMLSchemaError: Error, Hashable, Sendable {
    /// The text of libxml2, which can contain names and values of the document.
    package var message: String
    /// The line in the schema or document, from 1; 0 if unknown.
    package var line: Int
}

/// A schema for XML documents. It consists of one document: inclusions and imports are refused, because
/// libxml2 would load them from anywhere.
@safe package final class XMLSchema: @unchecked Sendable {
    package enum Language: Sendable { case relaxNG, xsd }

    private let language: Language
    private let handle: OpaquePointer
    /// The document of an XSD schema, to which the schema refers.
    private let document: XMLDocument
    // Guards `handle` and `document`: a schema and its names are used by one thread at a time.
    private let lock = Mutex(())

    /// Parses a schema of at most 1 MiB.
    /// - Throws: the first error.
    package init(_ text: [UInt8], language: Language) throws(XMLSchemaError) {
        let document: XMLDocument
        do throws(XMLError) {
            document = try XMLDocument.parse(text)
        } catch {
            throw XMLSchemaError(error)
        }
        if let error = Self.externalReference(in: document.root) { throw error }
        let log = XMLErrorLog()
        let parsed = unsafe log.recording {
            unsafe language == .relaxNG
                ? Self.parseRelaxNG(document.handle) : Self.parseXSD(document.handle)
        }
        guard let handle = unsafe parsed, log.first == nil else {
            if let parsed = unsafe parsed { unsafe Self.free(parsed, language) }
            throw log.first ?? XMLSchemaError(message: "the schema is invalid", line: 0)
        }
        unsafe self.handle = unsafe handle
        self.language = language
        self.document = document
    }

    deinit { unsafe Self.free(handle, language) }

    /// Returns the first error of a document; nil if the document matches the schema.
    package func firstError(in document: XMLDocument) -> XMLSchemaError? {
        let log = XMLErrorLog()
        let status = lock.withLock { _ in
            log.recording {
                unsafe language == .relaxNG ? validateRelaxNG(document.handle) : validateXSD(document.handle)
            }
        }
        return status == 0
            ? nil : log.first ?? XMLSchemaError(message: "the document does not match", line: 0)
    }

    private static func free(_ handle: OpaquePointer, _ language: Language) {
        switch language {
        case .relaxNG: unsafe xmlRelaxNGFree(handle)
        case .xsd: unsafe xmlSchemaFree(handle)
        }
    }

    // MARK: RELAX NG

    private static func parseRelaxNG(_ document: xmlDocPtr) -> OpaquePointer? {
        // The context copies the document.
        guard let context = unsafe xmlRelaxNGNewDocParserCtxt(document) else { return nil }
        defer { unsafe xmlRelaxNGFreeParserCtxt(context) }
        return unsafe xmlRelaxNGParse(context)
    }

    private func validateRelaxNG(_ document: xmlDocPtr) -> Int32 {
        guard let context = unsafe xmlRelaxNGNewValidCtxt(handle) else { return -1 }
        defer { unsafe xmlRelaxNGFreeValidCtxt(context) }
        return unsafe xmlRelaxNGValidateDoc(context, document)
    }

    // MARK: XSD

    private static func parseXSD(_ document: xmlDocPtr) -> OpaquePointer? {
        guard let context = unsafe xmlSchemaNewDocParserCtxt(document) else { return nil }
        defer { unsafe xmlSchemaFreeParserCtxt(context) }
        return unsafe xmlSchemaParse(context)
    }

    private func validateXSD(_ document: xmlDocPtr) -> Int32 {
        guard let context = unsafe xmlSchemaNewValidCtxt(handle) else { return -1 }
        defer { unsafe xmlSchemaFreeValidCtxt(context) }
        return unsafe xmlSchemaValidateDoc(context, document)
    }

    // MARK: References

    private static let externalReferences: [(namespace: StaticString, names: [StaticString])] = [
        ("http://relaxng.org/ns/structure/1.0", ["include", "externalRef"]),
        ("http://www.w3.org/2001/XMLSchema", ["include", "import", "redefine", "override"]),
    ]

    /// Finds an element that refers to another schema. Without recursion; the parser limits the depth.
    private static func externalReference(in root: XMLElement) -> XMLSchemaError? {
        var rest = [root]
        while let element = rest.popLast() {
            for (namespace, names) in externalReferences {
                for name in names where element.isNamed(name, in: namespace) {
                    return XMLSchemaError(
                        message: "\(name) is not supported; use one complete schema", line: element.line)
                }
            }
            rest.append(contentsOf: element.children)
        }
        return nil
    }
}

extension XMLSchemaError {
    package init(_ error: XMLError) {
        switch error {
        case .malformed(let position):
            self.init(message: "not well-formed, or with a document type declaration", line: position.line)
        case .externalEntity(let position):
            self.init(message: "external entities are not supported", line: position.line)
        case .limitExceeded(let kind, let position):
            self.init(message: "too many \(kind)", line: position.line)
        }
    }
}
