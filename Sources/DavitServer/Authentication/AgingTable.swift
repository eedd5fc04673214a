/// A dictionary of limited size that forgets what was added longest ago, half of it at a time.
struct AgingTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// - Parameter limit: the most entries; the last `limit / 2` are there for certain.
    init(limit: Int) { half = max(1, limit / 2) }

    var count: Int { young.count + old.count }

    /// O(1). Setting an entry that is there makes it young again.
    subscript(key: Key) -> Value? { young[key] ?? old[key] }

    mutating func set(_ value: Value, for key: Key) {
        if old.removeValue(forKey: key) == nil, young[key] != nil {
            young[key] = value
            return
        }
        if young.count >= half {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
