extension HTTPFields {
    /// Says that the response depends on a field of the request (RFC 9110 §12.5.5).
    ///
    /// All that is known goes into one line, each name once; `*` stays as it is. O(size of the fields) where there is a
    /// Vary already.
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
