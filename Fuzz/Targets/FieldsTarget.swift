import DavitHTTP

/// Small grammars: every accepted value parses to the same meaning after it is written out.
func fuzzFields(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    switch choice % 8 {
    case 0: checkDate(bytes)
    case 1: checkTags(bytes)
    case 2: checkPath(bytes)
    case 3: checkHost(bytes)
    case 4: checkDisposition(bytes)
    case 5: checkMediaType(bytes)
    case 6: checkCredentials(bytes)
    default: checkForm(bytes)
    }
}

/// RFC 9110 §5.6.7
private func checkDate(_ bytes: [UInt8]) {
    let now = Timestamp(seconds: 1_790_000_000)
    guard let date = HTTPDate.parse(bytes.span, now: now) else { return }
    let text = HTTPDate.imf(date)
    invariant(text.count == 29, "29 bytes")
    invariant(HTTPDate.parse(text.span, now: now)?.seconds == date.seconds, "same date after writing")
    // Dates outside the range of timestamps become the first or last representable instant.
    if bytes.count == 29, bytes[3] == UInt8(ascii: ","), abs(date.seconds) < 9_223_372_036 {
        invariant(text.dropFirst(3) == bytes.dropFirst(3), "IMF date is preserved")
    }
}

/// RFC 9110 §8.8.3, §13.1
private func checkTags(_ bytes: [UInt8]) {
    guard case .tags(let tags) = EntityTagList.parse(bytes.span) else { return }
    var text: [UInt8] = []
    for tag in tags {
        invariant(EntityTag.parse(tag.encoded.span) == tag, "same tag after writing")
        text += (text.isEmpty ? [] : Array(", ".utf8)) + tag.encoded
    }
    invariant(EntityTagList.parse(text.span) == .tags(tags), "same tags after writing")
}

/// RFC 3986 §2.1: no segment is a dot segment.
private func checkPath(_ bytes: [UInt8]) {
    if let decoded = PercentCoding.decode(bytes) {
        var encoded: [UInt8] = []
        PercentCoding.append(decoded, to: &encoded)
        invariant(PercentCoding.decode(encoded) == decoded, "same bytes after encoding again")
        invariant(encoded.allSatisfy { $0 > 32 && $0 < 127 }, "encoded as visible ASCII")
    }
    guard let path = try? ResourcePath.parse(rawPath: [UInt8(ascii: "/")] + bytes).path else { return }
    for segment in path.segments {
        invariant(!segment.isEmpty && !segment.contains(0), "a segment")
        invariant(!segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8), "no dot segment")
    }
    invariant(ResourcePath(segments: path.segments) == path, "same path from its segments")
}

/// RFC 9110 §7.2
private func checkHost(_ bytes: [UInt8]) {
    guard let host = HostField(parsing: bytes.span) else { return }
    var text = host.host
    if let port = host.port { text += Array(":\(port)".utf8) }
    invariant(HostField(parsing: text.span) == host, "same host after writing")
    invariant(
        !host.host.isEmpty && !host.host.contains { $0.isControl || $0 == 32 || $0 == 47 },
        "only host characters")
}

/// RFC 6266, RFC 8187
private func checkDisposition(_ bytes: [UInt8]) {
    let name = String(decoding: bytes, as: UTF8.self)
    let value = ContentDisposition.attachment(named: name)
    invariant(value.allSatisfy { $0 >= 32 && $0 < 127 }, "value is one line of ASCII")
    let taken = FieldParameters(parsing: value.span, from: "attachment".utf8.count)
    guard let taken else { return invariant(false, "field can be parsed") }
    guard let file = taken["filename"] else { return }
    invariant(!file.contains(UInt8(ascii: "/")) && !file.contains(UInt8(ascii: "\\")), "no path in a name")
    if let extended = taken["filename*"] {
        let prefix = Array("UTF-8''".utf8)
        invariant(extended.starts(with: prefix), "RFC 8187 §3.2")
        guard let decoded = PercentCoding.decode(Array(extended.dropFirst(prefix.count))) else {
            return invariant(false, "percent-coded")
        }
        invariant(String(validating: decoded, as: UTF8.self) != nil, "UTF-8")
    }
    _ = ContentDisposition(formData: bytes.span)
}

/// RFC 9110 §8.3.1
private func checkMediaType(_ bytes: [UInt8]) {
    guard let type = ContentType(parsing: bytes.span) else { return }
    var text = Array(type.essence.utf8)
    for parameter in type.parameters.all {
        text += Array("; \(parameter.name)=\"".utf8)
        for byte in parameter.value {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
    invariant(ContentType(parsing: text.span) == type, "same media type after writing")
}

/// RFC 7617 §2, RFC 7616 §3.4, RFC 7239 §4
private func checkCredentials(_ bytes: [UInt8]) {
    if let pair = Credentials.basic(from: bytes.span) {
        invariant(!pair.user.contains(UInt8(ascii: ":")), "no colon in a user name")
        invariant(String(validating: pair.user + pair.password, as: UTF8.self) != nil, "UTF-8")
    }
    if let digest = DigestCredentials(parsing: bytes.span) {
        invariant(digest.countDigits.count == 8, "count of eight digits")
        invariant(digest.clientNonce.count <= DigestCredentials.clientNonceLimit, "cnonce within the limit")
    }
    _ = ForwardedElement(parsing: bytes.span)
}

private func checkForm(_ bytes: [UInt8]) {
    guard let form = try? FormFields(parsing: bytes, limitFields: 16) else { return }
    invariant(form.count <= 16, "field count within the limit")
    for field in form {
        invariant(field.name.utf8.count + field.value.utf8.count <= 3 * bytes.count, "fields within input")
    }
}
