internal import DavitHTTP
internal import DavitWebDAV

extension RowIndex {
    /// Follows a transaction that is durable.
    ///
    /// - Parameter emptying: the positions of each `removeProperty` that took the last one of its resource.
    mutating func follow(_ changes: [StateChange], emptying: Set<Int>) {
        var touched: Set<ResourcePath> = []
        for (position, change) in changes.enumerated() {
            follow(change, isEmptying: emptying.contains(position), touched: &touched)
        }
        for path in touched { settle(path) }
    }

    /// - Parameter touched: collects the paths whose binding may have become useless. That is looked at in
    ///   the end, because a later change of the same transaction can rely on it.
    private mutating func follow(_ change: StateChange, isEmptying: Bool, touched: inout Set<ResourcePath>) {
        switch change {
        case .bind(let path, let current, let pending):
            bind(path, to: Binding(identity: current, pending: pending))
            touched.insert(path)
        case .setProperty(let path, _):
            setHasProperties(true, at: path)
        case .removeProperty(let path, _):
            guard isEmptying else { return }
            setHasProperties(false, at: path)
            touched.insert(path)
        case .removeRows(let path):
            detach(path)
        case .removeLocks(let path):
            for held in removeLocks(under: path) { touched.insert(held.lock.root) }
        case .moveRows(let source, let destination):
            moveRows(from: source, to: destination, touched: &touched)
        case .putRecord(let path, let record):
            setBinding(record.binding, at: path)
            setHasProperties(!record.properties.isEmpty, at: path)
            touched.insert(path)
        case .addLock(let lock):
            insert(lock)
        case .refreshLock(let token, let timeoutSeconds, let expiry):
            if let held = tokens[token] { refresh(held, timeoutSeconds: timeoutSeconds, expiry: expiry) }
        case .removeLock(let token):
            if let held = remove(token) { touched.insert(held.lock.root) }
        case .removeExpiredLocks(let now):
            for held in removeExpired(now: now) { touched.insert(held.lock.root) }
        case .putIntent, .dropIntent:
            break
        }
    }

    private mutating func bind(_ path: ResourcePath, to binding: Binding) {
        if let node = node(at: path), let old = node.binding, !old.holds(for: binding.identity) {
            setHasProperties(false, at: path)
            for held in node.locks { remove(held.lock.token) }
        }
        setBinding(binding, at: path)
    }

    private mutating func moveRows(
        from source: ResourcePath, to destination: ResourcePath, touched: inout Set<ResourcePath>
    ) {
        detach(destination)
        for held in removeLocks(under: source) { touched.insert(held.lock.root) }
        if let moved = detach(source) { attach(moved, at: destination) }
        touched = Set(touched.map { $0.rebased(from: source, to: destination) ?? $0 })
    }
}
