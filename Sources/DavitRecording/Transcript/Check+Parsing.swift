extension Check {
    /// Parses the text after `?` or `?~`; nil if it is not a check.
    init?(parsing text: String, isAdvice: Bool) {
        var words = Words(text)
        guard let subject = Self.subject(&words) else { return nil }
        self.init(subject: subject, isAdvice: isAdvice, text: text)
    }

    private static func subject(_ words: inout Words) -> Subject? {
        switch words.next() {
        case "header":
            guard let name = words.next(), let test = fieldTest(&words) else { return nil }
            return .field(String(name), test)
        case "wire":
            guard words.next() == "interim", let status = words.lastNumber() else { return nil }
            return .interim(status)
        case "body": return bodyTest(&words).map { .body($0) }
        case "dav": return multistatusTest(&words)
        case "lock": return lockTest(&words).map { .lock($0) }
        default: return nil
        }
    }

    private static func test(_ kind: Substring?, _ words: Words) -> Test? {
        switch kind {
        case "is": .equals(words.rest)
        case "matches": .matches(words.rest)
        case "lacks": .lacks(words.rest)
        default: nil
        }
    }

    private static func fieldTest(_ words: inout Words) -> FieldTest? {
        switch words.next() {
        case "present": .isPresent
        case "absent": .isAbsent
        case "token": .hasToken(words.rest)
        case let kind: test(kind, words).map { .value($0) }
        }
    }

    private static func bodyTest(_ words: inout Words) -> BodyTest? {
        switch words.next() {
        case "empty": .isEmpty
        case "bytes": words.lastNumber().map { .hasBytes($0) }
        case let kind: test(kind, words).map { .text($0) }
        }
    }

    private static func multistatusTest(_ words: inout Words) -> Subject? {
        let kind = words.next()
        if kind == "responses" { return words.lastNumber().map { .responseCount($0) } }
        guard let href = words.next().map(String.init) else { return nil }
        switch kind {
        case "first": return .firstHref(href)
        case "href": return .hasHref(href)
        case "no-href": return .lacksHref(href)
        case "raw-href": return .rawHref(href)
        case "status": return words.lastNumber().map { .responseStatus(href: href, $0) }
        case "collection":
            switch words.next() {
            case "yes": return .isCollection(href: href, true)
            case "no": return .isCollection(href: href, false)
            default: return nil
            }
        case "prop":
            guard let name = words.next().flatMap({ ComparedProperty(short: $0) }) else { return nil }
            return propertyTest(&words).map { .property(href: href, name, $0) }
        default: return nil
        }
    }

    private static func propertyTest(_ words: inout Words) -> PropertyTest? {
        switch words.next() {
        case "present": .isPresent
        case "missing": .isMissing
        case "absent": .isAbsent
        case "once": .appearsOnce
        case "status": words.lastNumber().map { .hasStatus($0) }
        case let kind: test(kind, words).map { .value($0) }
        }
    }

    private static func lockTest(_ words: inout Words) -> LockTest? {
        switch words.next() {
        case "token-equals-header": return .tokenEqualsField
        case "token-is": return .tokenIs(words.rest)
        case "timeout":
            let kind = words.next()
            return test(kind, words).map { .timeout($0) }
        case "owner":
            let kind = words.next()
            return test(kind, words).map { .owner($0) }
        case "depth": return words.next() == "is" ? .depthIs(words.rest) : nil
        case "count":
            guard words.next() == "is" else { return nil }
            return words.lastNumber().map { .countIs($0) }
        default: return nil
        }
    }
}

extension Capture {
    /// Parses `NAME = header H REGEX` or `NAME = prop HREF NS:name`; nil for anything else.
    init?(parsing text: String) {
        var words = Words(text)
        guard let name = words.next(), words.next() == "=", let kind = words.next(), let first = words.next()
        else { return nil }
        switch kind {
        case "header": source = .field(String(first), pattern: words.rest)
        case "prop":
            guard let property = words.next().flatMap({ ComparedProperty(short: $0) }) else { return nil }
            source = .property(href: String(first), property)
        default: return nil
        }
        self.name = String(name)
        self.text = text
    }
}

/// The words of a line, separated by single spaces, and the rest of the line.
struct Words {
    private var left: Substring

    init(_ text: String) { left = text[...] }

    /// Everything after the words that were taken.
    var rest: String { String(left) }

    /// Returns the next word, or nil at the end.
    mutating func next() -> Substring? {
        guard !left.isEmpty else { return nil }
        let word = left.prefix { $0 != " " }
        left = left[word.endIndex...].dropFirst()
        return word
    }

    /// Returns the next word as a number; nil if it is not a number or not the last word.
    mutating func lastNumber() -> Int? {
        guard let word = next(), left.isEmpty else { return nil }
        return Int(word)
    }
}
