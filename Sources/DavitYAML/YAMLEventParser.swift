#if YAML
internal import CYAML

/// Reads the events of a YAML file with libyaml.
@safe final class YAMLEventParser {
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// - Returns: nil if there is no memory.
    init?(_ bytes: [UInt8]) {
        // libyaml keeps the addresses of both.
        unsafe input = .allocate(capacity: max(1, bytes.count))
        _ = unsafe input.initialize(from: bytes)
        unsafe parser = .allocate(capacity: 1)
        guard unsafe yaml_parser_initialize(parser) != 0 else {
            unsafe input.deallocate()
            unsafe parser.deallocate()
            return nil
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// Returns the next event, or nil at the end of the file.
    /// - Throws: an error of syntax.
    func next() throws(YAMLProblem) -> YAMLEvent? {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) != 0 else { throw problem() }
            defer { unsafe yaml_event_delete(&event) }
            switch unsafe event.type {
            case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return nil
            case YAML_DOCUMENT_START_EVENT:
                return unsafe YAMLEvent(kind: .documentStart, position: Self.start(of: event))
            case YAML_SCALAR_EVENT: return unsafe Self.scalar(event)
            case YAML_ALIAS_EVENT: return unsafe YAMLEvent(kind: .alias, position: Self.start(of: event))
            case YAML_SEQUENCE_START_EVENT:
                let start = unsafe event.data.sequence_start
                return unsafe YAMLEvent(
                    kind: .sequenceStart, position: Self.start(of: event), hasAnchor: start.anchor != nil,
                    hasTag: start.tag != nil)
            case YAML_MAPPING_START_EVENT:
                let start = unsafe event.data.mapping_start
                return unsafe YAMLEvent(
                    kind: .mappingStart, position: Self.start(of: event), hasAnchor: start.anchor != nil,
                    hasTag: start.tag != nil)
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                return unsafe YAMLEvent(kind: .end, position: Self.start(of: event))
            default: continue
            }
        }
    }

    private static func scalar(_ event: yaml_event_t) -> YAMLEvent {
        let scalar = unsafe event.data.scalar
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
        return unsafe YAMLEvent(
            kind: .scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain),
            position: start(of: event), hasAnchor: scalar.anchor != nil, hasTag: scalar.tag != nil)
    }

    private static func start(of event: yaml_event_t) -> YAMLPosition {
        unsafe position(event.start_mark)
    }

    private static func position(_ mark: yaml_mark_t) -> YAMLPosition {
        YAMLPosition(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    /// Returns the error of the parser. Its text is that of libyaml, such as "did not find expected key".
    private func problem() -> YAMLProblem {
        let isRead = unsafe parser.pointee.error == YAML_READER_ERROR
        let text = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "out of memory"
        let mark = unsafe parser.pointee.problem_mark
        return YAMLProblem(isRead ? nil : Self.position(mark), "not valid YAML: \(text)")
    }
}
#endif
