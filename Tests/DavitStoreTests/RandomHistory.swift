import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV

/// Random transactions with few paths and few identities, so that they interact often.
struct RandomHistory {
    static let paths: [ResourcePath] =
        ["", "a", "a/b", "a/b/c", "a/b/c/d", "a/0", "a-", "a0", "ab", "b", "b/a", "b/a/b", "%", "_/a"].map(
            path)
        + [[[0xFF]], [[0xFF], [0xFF, 0x00 + 1]], [[0x61], [0xFF]]].compactMap { ResourcePath(segments: $0) }

    static let now = Timestamp(seconds: 100)

    var generator: SeededGenerator
    /// The root of each lock; the position is the token.
    private var roots: [ResourcePath] = [.root]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func anyPath() -> ResourcePath { Self.paths[number(0..<Self.paths.count)] }

    private mutating func anyIdentity() -> ResourceIdentity { identity(UInt64(number(1..<4))) }

    private mutating func anyProperty() -> StoredProperty {
        property(["p", "q", "r"][number(0..<3)], String(number(0..<100)))
    }

    /// Returns the token of one of the last 12 locks, which may have been removed, and its root.
    private mutating func anyLock() -> (token: LockToken, root: ResourcePath) {
        let position = max(0, roots.count - 1 - number(0..<12))
        // In one of 20 cases, the root does not match the token.
        let root = number(0..<20) == 0 ? anyPath() : roots[position]
        return (LockToken(uri: "urn:uuid:\(position)"), root)
    }

    private mutating func newLock(at root: ResourcePath) -> Lock {
        // In one of 20 cases, the token is already in use, so the transaction fails.
        let isNew = number(0..<20) > 0
        if isNew { roots.append(root) }
        var made = lock(
            String(roots.count - 1), "", number(0..<2) == 0 ? .zero : .infinity,
            scope: number(0..<2) == 0 ? .shared : .exclusive, expiry: Int64(number(95..<110)))
        made.root = roots[roots.count - 1]
        if number(0..<2) == 0 { made.created = Timestamp(nanoseconds: Int64(number(1..<1_000))) }
        return made
    }

    mutating func next() -> [StateChange] {
        (0..<number(1..<5)).flatMap { _ in step() }
    }

    private mutating func step() -> [StateChange] {
        let path = anyPath()
        let bind = StateChange.bind(
            path, current: anyIdentity(), pending: number(0..<3) == 0 ? anyIdentity() : nil)
        switch number(0..<24) {
        case 0: return [bind]
        case 1...5: return [bind, .setProperty(path, anyProperty())]
        case 6: return [.setProperty(path, anyProperty())]
        case 7, 8: return [.removeProperty(path, anyProperty().name)]
        case 9: return [bind, .removeProperty(path, anyProperty().name), .setProperty(path, anyProperty())]
        case 10: return [.removeRows(under: path)]
        case 11: return [.removeLocks(under: path)]
        case 12, 13: return [.moveRows(from: path, to: anyPath())]
        case 14:
            let properties = Set((0..<number(0..<3)).map { _ in anyProperty().name.local }).sorted()
            let values = properties.map { property($0, String(number(0..<100))) }
            return [
                .putRecord(
                    path, PropertyRecord(binding: Binding(identity: anyIdentity()), properties: values))
            ]
        case 22:
            return [
                .copyProperties(
                    from: anyPath(), to: path, binding: Binding(identity: anyIdentity()),
                    without: [anyProperty().name], limitBytes: number(0..<2) == 0 ? nil : number(0..<40))
            ]
        case 23:
            return [bind, .limitProperties(path, bytes: number(0..<40)), .setProperty(path, anyProperty())]
        case 15...17: return [bind, .addLock(newLock(at: path))]
        case 18: return [.addLock(newLock(at: path))]
        case 19:
            let expiry = Timestamp(seconds: Int64(number(95..<110)))
            let (token, root) = anyLock()
            return [.refreshLock(token, root: root, timeoutSeconds: 60, expiry: expiry)]
        case 20:
            let (token, root) = anyLock()
            return [.removeLock(token, root: root)]
        default:
            let id = Int64(number(1..<4))
            if number(0..<2) == 0 {
                let (token, root) = anyLock()
                let now = Timestamp(seconds: 101)
                return [.dropIntent(id: id), .removeExpiredLock(token, root: root, now: now)]
            }
            return [
                .putIntent(
                    RenameIntent(
                        id: id, source: path, destination: anyPath(), moved: anyIdentity(),
                        replaced: number(0..<2) == 0 ? nil : anyIdentity(), isCopy: number(0..<2) == 0))
            ]
        }
    }
}
