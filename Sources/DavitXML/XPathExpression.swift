internal import CXML2

/// An XPath 1.0 expression.
package struct XPathExpression: Hashable, Sendable {
    package struct Failure: Error, Hashable, Sendable {
        /// The text of libxml2, such as `Invalid expression`.
        package var message: String
    }

    package enum Value: Hashable, Sendable {
        /// A string, a number, or the text of each node of a set, of at most 1,000 nodes.
        case texts([String])
        case boolean(Bool)
    }

    /// The maximum length of an expression in bytes, which limits the recursion of libxml2.
    package static let maximumBytes = 1000
    /// The maximum number of operations of an evaluation; about a second.
    private static let operationLimit: UInt = 10_000_000
    private static let nodeLimit = 1000

    package let text: String
    private let namespaces: [String: String]

    /// Checks an expression by evaluating it in a document without content.
    /// - Parameter namespaces: namespace names by prefix.
    package init(_ text: String, namespaces: [String: String] = [:]) throws(Failure) {
        guard text.utf8.count <= Self.maximumBytes, !text.utf8.contains(0) else {
            throw Failure(message: "longer than \(Self.maximumBytes) bytes")
        }
        self.text = text
        self.namespaces = namespaces
        guard let document = try? XMLDocument.parse(Array("<document/>".utf8)) else {
            throw Failure(message: "invalid expression")
        }
        _ = try evaluate(in: document)
    }

    /// Evaluates the expression for the root of a document, its parent of the first element.
    /// - Throws: an error that only occurs with content, or if the evaluation takes too long.
    package func evaluate(in document: XMLDocument) throws(Failure) -> Value {
        guard let context = unsafe xmlXPathNewContext(document.handle) else {
            fatalError("libxml2 is out of memory")
        }
        defer { unsafe xmlXPathFreeContext(context) }
        let log = XMLErrorLog()
        unsafe context.pointee.opLimit = Self.operationLimit
        unsafe context.pointee.node = UnsafeMutableRawPointer(document.handle)
            .assumingMemoryBound(to: xmlNode.self)
        for (prefix, name) in namespaces { unsafe xmlXPathRegisterNs(context, prefix, name) }
        // Sets of nodes are sorted by the order that is stored in the elements.
        unsafe xmlXPathOrderDocElems(document.handle)
        let value = log.recording { unsafe evaluate(context) }
        guard let value, log.first == nil else {
            throw Failure(message: log.first?.message ?? "cannot be evaluated")
        }
        return value
    }

    private func evaluate(_ context: xmlXPathContextPtr) -> Value? {
        guard let compiled = unsafe xmlXPathCtxtCompile(context, text) else { return nil }
        defer { unsafe xmlXPathFreeCompExpr(compiled) }
        guard let result = unsafe xmlXPathCompiledEval(compiled, context) else { return nil }
        defer { unsafe xmlXPathFreeObject(result) }
        switch unsafe result.pointee.type {
        case XPATH_NODESET:
            var texts: [String] = []
            guard let nodes = unsafe result.pointee.nodesetval else { return .texts([]) }
            for index in 0..<min(Int(unsafe nodes.pointee.nodeNr), Self.nodeLimit) {
                guard let text = unsafe xmlXPathCastNodeToString(nodes.pointee.nodeTab[index]) else {
                    continue
                }
                texts.append(unsafe String(cString: text))
                unsafe davit_xml_free(text)
            }
            return .texts(texts)
        case XPATH_BOOLEAN: return unsafe .boolean(result.pointee.boolval != 0)
        case XPATH_STRING, XPATH_NUMBER: break
        default: return nil
        }
        guard let text = unsafe xmlXPathCastToString(result) else { return nil }
        defer { unsafe davit_xml_free(text) }
        return unsafe .texts([String(cString: text)])
    }
}
