extension HTTPFields {
    /// Declares that the response depends on a request field (RFC 9110 §12.5.5).
    ///
    /// Adds the name to the existing names, on a single line, unless the field already contains the name or
    /// `*`. O(size of the fields) if there already is a Vary field.
    public mutating func vary(on name: FieldName) {
        guard contains(.vary) else {
            append(.vary, name.text)
            return
        }
        var list: [UInt8] = []
        var isCovered = false
        forEachValue(of: .vary) { value in
            value.forEachElement { element in
                if element.isEmpty { return }
                if element.equalsIgnoringCase("*") || FieldName(parsing: element) == name { isCovered = true }
                if !list.isEmpty { list.append(", ") }
                list.append(copying: element)
            }
        }
        if isCovered { return }
        if !list.isEmpty { list.append(", ") }
        list.append(name.text)
        remove(.vary)
        append(.vary, list)
    }
}
