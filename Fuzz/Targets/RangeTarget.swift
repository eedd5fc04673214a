import DavitHTTP

/// Ranges are within the representation, in ascending order and not adjacent, and parse to the same ranges
/// after they are written out (RFC 9110 §14.1.2).
func fuzzRange(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let lengths: [Int64] = [0, 1, 2, 10, 99, 10_000, 1 << 40, .max]
    let length = lengths[choice % lengths.count]
    switch ByteRanges.resolve(bytes.span, length: length) {
    case .whole, .unsatisfiable: break
    case .single(let range):
        check([range], length)
    case .multiple(let ranges):
        invariant(ranges.count > 1 && ranges.count <= ByteRanges.countLimit, "two ranges up to the limit")
        check(ranges, length)
    }
}

private func check(_ ranges: [ByteRange], _ length: Int64) {
    var end: Int64 = -1
    for range in ranges {
        invariant(range.offset > end && range.length > 0, "ascending and not adjacent")
        invariant(
            range.length <= length && range.offset <= length - range.length, "within the representation")
        end = range.end
    }
    let text = "bytes=" + ranges.map { "\($0.offset)-\($0.end - 1)" }.joined(separator: ",")
    let again = ByteRanges.resolve(Array(text.utf8).span, length: length)
    invariant(again == (ranges.count == 1 ? .single(ranges[0]) : .multiple(ranges)), "same after writing")
}
