/// A dictionary of limited size. When it is full, it discards the older half of its entries.
package struct BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// - Parameter limit: maximum number of entries; the newest `limit / 2` are always retained.
    package init(limit: Int) { half = max(1, limit / 2) }

    package var count: Int { young.count + old.count }

    /// Returns the value for `key`. O(1).
    package subscript(key: Key) -> Value? { young[key] ?? old[key] }

    /// The number of entries whose value fulfils a condition. O(n).
    package func count(where condition: (Value) -> Bool) -> Int {
        young.values.count(where: condition) + old.values.count(where: condition)
    }

    /// Removes all entries whose value fulfils a condition. O(n).
    package mutating func removeAll(where condition: (Value) -> Bool) {
        young = young.filter { !condition($0.value) }
        old = old.filter { !condition($0.value) }
    }

    /// Removes the value for `key`, if there is one. O(1).
    package mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }

    /// Sets the value for `key`, moving an existing entry to the newer half. O(1) amortized.
    package mutating func set(_ value: Value, for key: Key) {
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
