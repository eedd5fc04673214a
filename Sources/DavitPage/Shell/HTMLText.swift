internal import DavitHTTP
internal import DavitListing
internal import DavitQRCode
internal import DavitServer

/// Builds HTML. Markup comes only from string literals; everything else is escaped.
struct HTMLText {
    private(set) var bytes: [UInt8] = []

    mutating func markup(_ markup: StaticString) { Markup.append(markup, to: &bytes) }
    mutating func text(_ text: [UInt8]) { Markup.appendText(text, to: &bytes) }
    mutating func text(_ text: String) { Markup.appendText(Array(text.utf8), to: &bytes) }

    /// Adds an element that contains text.
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

    /// Adds an attribute, with a space before the name and the value in quotes.
    mutating func attribute(_ name: StaticString, _ value: [UInt8]) {
        markup(" ")
        markup(name)
        markup("=\"")
        text(value)
        markup("\"")
    }

    mutating func attribute(_ name: StaticString, _ value: String) { attribute(name, Array(value.utf8)) }

    /// Adds a QR code as a drawing, which consists of numbers only.
    mutating func drawing(_ code: QRCode) { bytes.append(contentsOf: code.svg().utf8) }

    /// Adds JSON in a script element. ``JSONWriter`` has escaped all characters that HTML would interpret.
    mutating func json(_ json: JSONWriter) { bytes.append(contentsOf: json.bytes) }

    /// Adds the name of a resource, isolated because it may be in a right-to-left script.
    mutating func name(_ name: [UInt8]) {
        markup("<bdi>")
        text(DisplayName.text(name))
        markup("</bdi>")
    }

    /// Adds plain text as paragraphs. Blank lines separate paragraphs; other line breaks become `<br>`.
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

    /// Adds a time: to the minute as text, to the second in the attribute.
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

    /// Adds a hidden field with the name of a member.
    mutating func hiddenMember(_ name: [UInt8]) {
        var segment: [UInt8] = []
        PercentCoding.append(name, to: &segment)
        hidden("member", segment)
    }

    /// Adds a hidden field.
    mutating func hidden(_ name: String, _ value: [UInt8]) {
        markup("<input type=\"hidden\"")
        attribute("name", name)
        attribute("value", value)
        markup(">\n")
    }

    mutating func hidden(_ name: String, _ value: String) { hidden(name, Array(value.utf8)) }
}
