internal import DavitStore
internal import DavitSystem

/// Removes a tree, as far as possible. Works for any depth and size with one descriptor and the names of the
/// collections that are still to be visited. Links are removed, never followed.
struct TreeRemoval {
    /// A member that could not be removed, as segments below the start directory.
    struct Failure {
        var segments: [[UInt8]]
        var error: StoreError
    }

    /// Whether this server created the tree, as a copy or a leftover. If so, permissions of its folders that
    /// prevent the removal are changed.
    let isOurs: Bool
    /// The number of files and folders that may still be removed.
    private(set) var budget: Int
    private(set) var failures: [Failure] = []
    private var frames: [Frame] = []

    private struct Frame {
        var name: [UInt8]
        /// Subcollections that are still to be removed.
        var pending: [[UInt8]] = []
        /// The number of times the folder was read and was not empty afterwards.
        var attempts = 0
        var hasFailure = false
    }

    init(isOurs: Bool, budget: Int = .max) {
        self.isOurs = isOurs
        self.budget = budget
    }

    mutating func remove(_ name: [UInt8], in directory: borrowing FileDescriptor) {
        do {
            try directory.unlink(name)
            budget -= 1
            return
        } catch {
            guard error.code == .isDirectory || error.code == .notPermitted else {
                if error.code != .noEntry { record(name, StoreError(error)) }
                return
            }
        }
        do throws(SystemError) {
            let start = try directory.open([UInt8(ascii: ".")], for: .entries)
            var position = try DirectoryPosition(at: start)
            frames = [Frame(name: [], pending: [name])]
            try walk(&position)
        } catch {
            frames = []
            record(name, StoreError(error))
        }
    }

    private mutating func walk(_ position: inout DirectoryPosition) throws(SystemError) {
        while budget > 0 {
            LongWork.pause()
            if let name = frames[frames.count - 1].pending.popLast() {
                enter(Frame(name: name), &position)
            } else if frames.count == 1 {
                return
            } else {
                let frame = frames.removeLast()
                try position.leave()
                removeEmptied(frame, &position)
            }
        }
    }

    private mutating func enter(_ frame: Frame, _ position: inout DirectoryPosition) {
        do throws(SystemError) {
            do throws(SystemError) {
                try position.enter(frame.name)
            } catch {
                guard isOurs, error.code == .accessDenied else { throw error }
                try position.directory.setMode(0o700, of: frame.name)
                try position.enter(frame.name)
            }
        } catch {
            // The directory cannot be entered, but can be removed if it is empty.
            let reason = error
            if (try? position.directory.removeDirectory(frame.name)) == nil, reason.code != .noEntry {
                record(frame.name, StoreError(reason))
            }
            return
        }
        frames.append(frame)
        removeFiles(of: position.directory)
    }

    /// Removes all members except collections, which become pending.
    private mutating func removeFiles(of directory: borrowing FileDescriptor) {
        var block = DirectoryBlock(capacity: 1 << 15)
        do throws(SystemError) {
            while budget > 0, try block.read(from: directory) {
                var names: [(name: [UInt8], isDirectory: Bool)] = []
                block.scan { entry in names.append((entry.bytes, entry.kind == .directory)) }
                for (name, isDirectory) in names where budget > 0 {
                    LongWork.pause()
                    if isDirectory {
                        frames[frames.count - 1].pending.append(name)
                    } else {
                        removeFile(name, in: directory)
                    }
                }
            }
        } catch {
            record([], StoreError(error))
        }
    }

    private mutating func removeFile(_ name: [UInt8], in directory: borrowing FileDescriptor) {
        do throws(SystemError) {
            do throws(SystemError) {
                try directory.unlink(name)
            } catch {
                guard isOurs, error.code == .accessDenied else { throw error }
                try directory.setMode(0o700)
                try directory.unlink(name)
            }
            budget -= 1
        } catch {
            let isDirectory = (try? directory.status(of: name))?.kind == .directory
            if isDirectory {
                frames[frames.count - 1].pending.append(name)
            } else if error.code != .noEntry {
                record(name, StoreError(error))
            }
        }
    }

    private mutating func removeEmptied(_ frame: Frame, _ position: inout DirectoryPosition) {
        do {
            try position.directory.removeDirectory(frame.name)
            budget -= 1
        } catch {
            if error.code == .noEntry { return }
            guard error.code == .notEmpty, !frame.hasFailure else {
                if !frame.hasFailure { record(frame.name, StoreError(error)) }
                frames[frames.count - 1].hasFailure = true
                return
            }
            // Another process has added members, or the volume has skipped entries while others were being
            // removed.
            guard frame.attempts < 3 else { return record(frame.name, .busy) }
            enter(Frame(name: frame.name, attempts: frame.attempts + 1), &position)
        }
    }

    /// - Parameter name: a member of the current directory; empty for that directory itself.
    private mutating func record(_ name: [UInt8], _ error: StoreError) {
        let above = frames.dropFirst().map(\.name)
        failures.append(Failure(segments: name.isEmpty ? above : above + [name], error: error))
        if !frames.isEmpty { frames[frames.count - 1].hasFailure = true }
    }
}
