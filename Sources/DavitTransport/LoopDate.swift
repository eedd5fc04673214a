internal import DavitHTTP
internal import DavitSystem

/// The value of the `Date` field, updated at most once per second.
struct LoopDate {
    private(set) var text: [UInt8] = []
    private var second = Int64.min

    init() { update() }

    mutating func update() {
        let current = Clock.coarseWallNow() / 1_000_000_000
        guard current != second else { return }
        second = current
        text.removeAll(keepingCapacity: true)
        HTTPDate.appendIMF(Timestamp(seconds: current), to: &text)
    }
}
