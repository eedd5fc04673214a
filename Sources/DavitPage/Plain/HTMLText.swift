internal import DavitHTTP
internal import DavitServer

/// A piece of the page on its way. Markup is written in the source; everything else is text, and escaped.
struct HTMLText {
    private(set) var bytes: [UInt8] = []

    mutating func markup(_ markup: StaticString) { Markup.append(markup, to: &bytes) }
    mutating func text(_ text: [UInt8]) { Markup.appendText(text, to: &bytes) }
    mutating func text(_ text: String) { Markup.appendText(Array(text.utf8), to: &bytes) }

    /// An element with text in it.
    mutating func element(_ name: StaticString, _ text: String, _ attributes: StaticString = "") {
        markup("<")
        markup(name)
        markup(attributes)
        markup(">")
        self.text(text)
        markup("</")
        markup(name)
        markup(">")
    }

    /// The value of an attribute, with its quotes and the space before the name.
    mutating func attribute(_ name: StaticString, _ value: [UInt8]) {
        markup(" ")
        markup(name)
        markup("=\"")
        text(value)
        markup("\"")
    }

    mutating func attribute(_ name: StaticString, _ value: String) { attribute(name, Array(value.utf8)) }

    /// In a script element; it escapes itself.
    mutating func json(_ json: JSONText) { bytes.append(contentsOf: json.bytes) }

    /// A name of something on the server: it may be of any script.
    mutating func name(_ name: [UInt8]) {
        markup("<bdi>")
        text(ShownName.text(name))
        markup("</bdi>")
    }

    /// Text with line ends, as paragraphs; an empty line begins a new one.
    mutating func paragraphs(_ text: String) {
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isBlank = line.allSatisfy(\.isWhitespace)
            if isBlank, isOpen { markup("</p>\n") }
            if !isBlank { markup(isOpen ? "<br>" : "<p>") }
            if !isBlank { self.text(String(line)) }
            isOpen = !isBlank
        }
        if isOpen { markup("</p>\n") }
    }

    /// To the minute for people, to the second for programs.
    mutating func time(_ time: Timestamp) {
        let text = HTTPDate.iso8601(time)
        markup("<time datetime=\"")
        bytes.append(contentsOf: text)
        markup("\">")
        bytes.append(contentsOf: text[..<10])
        markup(" ")
        bytes.append(contentsOf: text[11..<16])
        markup("</time>")
    }

    /// A field that says which member is meant.
    mutating func hiddenMember(_ name: [UInt8]) {
        var segment: [UInt8] = []
        PercentCoding.append(name, to: &segment)
        hidden("member", segment)
    }

    /// A field that nobody sees.
    mutating func hidden(_ name: String, _ value: [UInt8]) {
        markup("<input type=\"hidden\"")
        attribute("name", name)
        attribute("value", value)
        markup(">\n")
    }

    mutating func hidden(_ name: String, _ value: String) { hidden(name, Array(value.utf8)) }
}
