internal import DavitHTTP
internal import DavitWebDAV

extension RowIndex {
    /// Applies a transaction that is already durable.
    ///
    /// - Parameter emptying: the positions of each `removeProperty` that removed the last property of its
    ///   resource, and of each `copyProperties` that copied no properties.
    mutating func follow(_ changes: [StateChange], emptying: Set<Int>) {
        // A path may occur twice: checking it again is cheaper than hashing every path.
        var touched: [ResourcePath] = []
        for (position, change) in changes.enumerated() {
            follow(change, isEmptying: emptying.contains(position), touched: &touched)
        }
        for path in touched { refresh(path) }
    }

    /// - Parameter touched: collects the paths whose binding may have become unused. They are checked at the
    ///   end, because a later change of the same transaction can rely on the binding.
    private mutating func follow(_ change: StateChange, isEmptying: Bool, touched: inout [ResourcePath]) {
        switch change {
        case .bind(let path, let current, let pending):
            bind(path, to: Binding(identity: current, pending: pending))
            touched.append(path)
        case .setProperty(let path, let property):
            setHasProperties(true, at: path)
            if property.name == .contentLanguage { setHasLanguage(true, at: path) }
        case .copyProperties(let source, let path, let binding, let without, _):
            setBinding(binding, at: path)
            setHasProperties(!isEmptying, at: path)
            let hasLanguage = node(at: source)?.hasLanguage ?? false
            setHasLanguage(hasLanguage && !without.contains(.contentLanguage), at: path)
            touched.append(path)
        case .removeProperty(let path, let name):
            if name == .contentLanguage { setHasLanguage(false, at: path) }
            guard isEmptying else {
                if let node = node(at: path) { dropProperties(of: node) }
                return
            }
            setHasProperties(false, at: path)
            touched.append(path)
        case .removeRows(let path):
            detach(path)
        case .removeLocks(let path):
            for held in removeLocks(under: path) { touched.append(held.lock.root) }
        case .moveRows(let source, let destination):
            moveRows(from: source, to: destination, touched: &touched)
        case .putRecord(let path, let record):
            setBinding(record.binding, at: path)
            setHasProperties(!record.properties.isEmpty, at: path)
            setHasLanguage(record.properties.contains { $0.name == .contentLanguage }, at: path)
            touched.append(path)
        case .addLock(let lock):
            insert(lock)
        case .refreshLock(let token, let root, let timeoutSeconds, let expiry):
            guard let held = held(token, root: root) else { return }
            refresh(held, timeoutSeconds: timeoutSeconds, expiry: expiry)
        case .removeLock(let token, let root):
            guard let held = held(token, root: root) else { return }
            remove(held)
            touched.append(root)
        case .removeExpiredLock(let token, let root, let now):
            guard let held = held(token, root: root), held.lock.expiry <= now else { return }
            remove(held)
            touched.append(root)
        case .putUpload(let upload):
            insert(upload)
        case .setUploadProgress(let id, let progress):
            setProgress(progress, of: id)
        case .removeUpload(let id):
            removeUpload(id)
        case .limitProperties, .putIntent, .dropIntent, .putTrash, .measureTrash, .dropTrash:
            break
        }
    }

    private mutating func bind(_ path: ResourcePath, to binding: Binding) {
        if let node = node(at: path), let old = node.binding, !old.holds(for: binding.identity) {
            setHasProperties(false, at: path)
            for held in node.locks { remove(held) }
        }
        setBinding(binding, at: path)
    }

    private mutating func moveRows(
        from source: ResourcePath, to destination: ResourcePath, touched: inout [ResourcePath]
    ) {
        detach(destination)
        for held in removeLocks(under: source) { touched.append(held.lock.root) }
        let uploads = removeUploads(under: source)
        if let moved = detach(source) { attach(moved, at: destination) }
        for var upload in uploads {
            upload.collection = upload.collection.rebased(from: source, to: destination) ?? upload.collection
            insert(upload)
        }
        touched = touched.map { $0.rebased(from: source, to: destination) ?? $0 }
    }
}
