internal import CXML2

/// One parser run: a libxml2 context whose event handlers are libxml2's tree builder with additional checks.
///
/// The context refers to a ``Watch``, which the event handlers use.
@safe struct XMLTreeParser: ~Copyable {
    private let context: xmlParserCtxtPtr
    private let watch: Watch

    /// The state of the checks.
    final class Watch {
        let limits: XMLLimits
        /// For each open element, the number of namespace declarations in scope.
        var scope: [Int] = []
        var nodes = 0
        var hasDocumentType = false
        /// The first failure; later events are ignored.
        var failure: XMLError?

        init(limits: XMLLimits) { self.limits = limits }
    }

    /// libxml2 must be initialized once, before any thread uses it.
    private static let isLibraryReady: Bool = {
        xmlInitParser()
        return true
    }()

    init(limits: XMLLimits) {
        guard Self.isLibraryReady, let context = unsafe xmlNewParserCtxt() else {
            fatalError("libxml2 is out of memory")
        }
        unsafe self.context = context
        watch = Watch(limits: limits)
        unsafe context.pointee._private = Unmanaged.passUnretained(watch).toOpaque()
        if let table = unsafe context.pointee.sax { unsafe Self.install(in: table) }
    }

    deinit { unsafe xmlFreeParserCtxt(context) }

    var failure: XMLError? { watch.failure }

    var position: XMLPosition { unsafe context.position }

    /// Parses `text` into a tree, which the caller must free. The tree is valid only if ``failure`` is nil.
    mutating func parse(_ text: [UInt8]) -> xmlDocPtr? {
        // Without XML_PARSE_NOENT, XML_PARSE_DTDLOAD and XML_PARSE_HUGE, entities are not replaced, nothing
        // is loaded, and the limits of libxml2 itself apply. The encoding is not specified either, because
        // libxml2 would then convert the text from UTF-8 to UTF-8 in small pieces; by default it is UTF-8,
        // since the checked text cannot begin like any other encoding.
        let options =
            XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
            | XML_PARSE_IGNORE_ENC.rawValue
        let tree = unsafe text.withUnsafeBytes { bytes in
            unsafe xmlCtxtReadMemory(
                context, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil, nil,
                Int32(bitPattern: UInt32(options)))
        }
        // The serializer would write non-ASCII characters as references if the encoding were unknown.
        if let tree = unsafe tree, unsafe tree.pointee.encoding == nil {
            unsafe tree.pointee.encoding = UnsafePointer(xmlStrdup("UTF-8"))
        }
        return unsafe tree
    }
}

extension xmlParserCtxtPtr {
    fileprivate var position: XMLPosition {
        guard let input = unsafe pointee.input else { return XMLPosition(line: 0, column: 0) }
        return unsafe XMLPosition(line: Int(input.pointee.line), column: Int(input.pointee.col))
    }

    /// The state of the checks; nil after a failure, so that further events are ignored.
    fileprivate var watch: XMLTreeParser.Watch? {
        guard let state = unsafe pointee._private else { return nil }
        let watch = unsafe Unmanaged<XMLTreeParser.Watch>.fromOpaque(state).takeUnretainedValue()
        return watch.failure == nil ? watch : nil
    }

    fileprivate func stop(_ failure: XMLError) {
        unsafe watch?.failure = failure
        unsafe xmlStopParser(self)
    }

    /// Counts nodes that the parser has read, and returns whether to add them to the tree. Stops the parser
    /// if there are too many.
    fileprivate func admits(_ count: Int) -> Bool {
        guard let watch = unsafe watch else { return false }
        watch.nodes += count
        if watch.nodes > watch.limits.nodes { unsafe stop(.limitExceeded(.nodes, position)) }
        // The content of a document type declaration is checked, but never added to the tree.
        return watch.failure == nil && !watch.hasDocumentType
    }
}

extension XMLTreeParser {
    /// Installs the checks in front of libxml2's tree builder.
    fileprivate static func install(in table: UnsafeMutablePointer<xmlSAXHandler>) {
        unsafe installDocumentType(in: table)
        unsafe installContent(in: table)
        // Record only the position of an error. The handler also prevents libxml2 from printing errors.
        unsafe table.pointee.serror = { context, error in
            guard let error = unsafe error, let context = unsafe context?.asParser else { return }
            let isHarmless =
                unsafe error.pointee.level.rawValue < XML_ERR_ERROR.rawValue
                // Namespace names are compared as text and need not be URIs that libxml2 accepts.
                || error.pointee.code == Int32(XML_WAR_NS_URI.rawValue)
            guard !isHarmless else { return }
            unsafe context.watch?.failure = .malformed(
                XMLPosition(line: Int(error.pointee.line), column: Int(error.pointee.int2)))
        }
    }

    /// Parses a document type declaration only as far as needed to detect external references, and stores
    /// nothing.
    private static func installDocumentType(in table: UnsafeMutablePointer<xmlSAXHandler>) {
        unsafe table.pointee.internalSubset = { context, _, publicIdentifier, systemIdentifier in
            guard let context = unsafe context?.asParser else { return }
            unsafe context.watch?.hasDocumentType = true
            if unsafe publicIdentifier != nil || systemIdentifier != nil {
                unsafe context.stop(.externalEntity(context.position))
            }
        }
        unsafe table.pointee.entityDecl = { context, _, _, publicIdentifier, systemIdentifier, _ in
            guard let context = unsafe context?.asParser else { return }
            if unsafe publicIdentifier != nil || systemIdentifier != nil {
                unsafe context.stop(.externalEntity(context.position))
            }
        }
        unsafe table.pointee.unparsedEntityDecl = { context, _, _, _, _ in
            guard let context = unsafe context?.asParser else { return }
            unsafe context.stop(.externalEntity(context.position))
        }
        unsafe table.pointee.attributeDecl = { _, _, _, _, _, _, values in unsafe xmlFreeEnumeration(values) }
        // Called at the end of every document type declaration, even without an external subset.
        unsafe table.pointee.externalSubset = { context, _, _, _ in
            guard let context = unsafe context?.asParser else { return }
            unsafe context.stop(.malformed(context.position))
        }
        unsafe table.pointee.elementDecl = nil
        unsafe table.pointee.notationDecl = nil
        unsafe table.pointee.resolveEntity = { _, _, _ in nil }
        unsafe table.pointee.getEntity = { _, _ in nil }
        unsafe table.pointee.getParameterEntity = { _, _ in nil }
        unsafe table.pointee.reference = nil
    }

    private static func installContent(in table: UnsafeMutablePointer<xmlSAXHandler>) {
        unsafe table.pointee.startElementNs = {
            context, local, prefix, uri, declarationCount, declarations, attributeCount, defaultedCount,
            attributes in
            guard let parser = unsafe context?.asParser,
                unsafe parser.admits(1 + Int(declarationCount) + Int(attributeCount)),
                let watch = unsafe parser.watch
            else { return }
            watch.scope.append((watch.scope.last ?? 0) + Int(declarationCount))
            let limit = Int32(clamping: watch.limits.nameBytes)
            var areNamesShort = unsafe xmlStrlen(local) <= limit && xmlStrlen(uri) <= limit
            var areNamesWritable = true
            // Each declaration consists of a prefix and a name.
            for index in 0..<Int(declarationCount) * 2 {
                let text = unsafe declarations?[index]
                unsafe areNamesShort = areNamesShort && xmlStrlen(text) <= limit
                unsafe areNamesWritable = areNamesWritable && text.isWritable
            }
            // Each attribute consists of a local name, a prefix, a namespace name, and the start and end of
            // its value.
            for index in 0..<Int(attributeCount) {
                areNamesShort = unsafe areNamesShort && xmlStrlen(attributes?[index * 5]) <= limit
            }
            if watch.scope.count > watch.limits.depth {
                unsafe parser.stop(.limitExceeded(.depth, parser.position))
            } else if (watch.scope.last ?? 0) > watch.limits.declarations {
                unsafe parser.stop(.limitExceeded(.declarations, parser.position))
            } else if !areNamesShort {
                unsafe parser.stop(.limitExceeded(.nameBytes, parser.position))
            } else if !areNamesWritable {
                unsafe parser.stop(.malformed(parser.position))
            } else {
                unsafe xmlSAX2StartElementNs(
                    context, local, prefix, uri, declarationCount, declarations, attributeCount,
                    defaultedCount, attributes)
            }
        }
        unsafe table.pointee.endElementNs = { context, local, prefix, uri in
            guard let watch = unsafe context?.asParser.watch else { return }
            _ = watch.scope.popLast()
            unsafe xmlSAX2EndElementNs(context, local, prefix, uri)
        }
        unsafe table.pointee.comment = { context, text in
            if unsafe context?.asParser.admits(1) == true { unsafe xmlSAX2Comment(context, text) }
        }
        unsafe table.pointee.processingInstruction = { context, target, text in
            if unsafe context?.asParser.admits(1) == true {
                unsafe xmlSAX2ProcessingInstruction(context, target, text)
            }
        }
        unsafe table.pointee.cdataBlock = { context, text, length in
            if unsafe context?.asParser.admits(1) == true { unsafe xmlSAX2CDataBlock(context, text, length) }
        }
    }
}

extension UnsafePointer<xmlChar>? {
    /// Whether this namespace name contains no character that libxml2 would write unescaped although it is
    /// not allowed in an attribute value. No such character is allowed in a URI either.
    fileprivate var isWritable: Bool {
        guard let text = self else { return true }
        var offset = 0
        while unsafe text[offset] != 0 {
            if unsafe text[offset] < 0x20 || text[offset] == UInt8(ascii: "<") { return false }
            offset += 1
        }
        return true
    }
}

extension UnsafeMutableRawPointer {
    /// The parser context that libxml2 passes to each event handler.
    fileprivate var asParser: xmlParserCtxtPtr { unsafe assumingMemoryBound(to: xmlParserCtxt.self) }
}
