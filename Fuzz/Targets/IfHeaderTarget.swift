import DavitHTTP
import DavitWebDAV

/// An accepted If field parses to the same lists after it is written in its simplest form (RFC 4918 §10.4).
func fuzzIfHeader(_ input: [UInt8]) {
    do throws(IfHeader.ParseError) {
        let header = try IfHeader(parsing: input.span)
        checkLists(header)
        let text = written(header)
        let again = try? IfHeader(parsing: text.span)
        // Text that was not UTF-8 was repaired by the first pass, and is stable from then on.
        invariant(again == header, "same lists after writing")
    } catch {
        let offset =
            switch error {
            case .unexpectedByte(let byte, let offset): check(byte, input, offset)
            case .unterminated(let byte, let offset): check(byte, input, offset)
            case .empty(let offset): offset
            }
        invariant(offset >= 0 && offset <= input.count, "error offset within the input")
    }
}

private func check(_ byte: UInt8, _ input: [UInt8], _ offset: Int) -> Int {
    invariant(offset < input.count && input[offset] == byte, "error byte at its offset")
    return offset
}

private func checkLists(_ header: IfHeader) {
    invariant(!header.lists.isEmpty, "a list")
    invariant(header.lists.allSatisfy { !$0.conditions.isEmpty }, "no list is empty")
    let tagged = header.lists.filter { $0.resourceTag != nil }.count
    invariant(tagged == 0 || tagged == header.lists.count, "all lists are tagged, or none")
    // If nothing is mapped, a list holds if all its conditions are negated (§10.4.4).
    let expected = header.lists.contains { $0.conditions.allSatisfy(\.isNegated) }
    let holds = header.evaluate { _ in .unmapped }
    invariant(holds == expected, "evaluation of unmapped resources")
    // A resource with every submitted token and no entity tag.
    let tokens = header.submittedTokens
    let locked = header.lists.contains { list in
        list.conditions.allSatisfy { condition in
            if case .stateToken = condition.state { return !condition.isNegated }
            return condition.isNegated
        }
    }
    let evaluated = header.evaluate { _ in IfHeader.ResourceState(tokens: tokens) }
    invariant(evaluated == locked, "evaluation with all tokens")
}

private func written(_ header: IfHeader) -> [UInt8] {
    var text: [UInt8] = []
    for list in header.lists {
        if let tag = list.resourceTag { text += Array("<\(tag)>".utf8) }
        text.append(UInt8(ascii: "("))
        for condition in list.conditions {
            if condition.isNegated { text += Array("Not ".utf8) }
            switch condition.state {
            case .stateToken(let token): text += Array("<\(token)>".utf8)
            case .entityTag(let tag):
                text += Array((tag.isWeak ? "[W/\"" : "[\"").utf8) + tag.opaque + Array("\"]".utf8)
            }
        }
        text.append(UInt8(ascii: ")"))
    }
    return text
}
