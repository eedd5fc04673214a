internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Tells versions apart where modification times cannot: on volumes that keep whole seconds, or not much more.
///
/// It is an extended attribute of the file, written with each commit; on volumes that have none (FAT), the
/// birth time stands in, which they keep finer than the modification time and which is new with each commit.
enum Stamp {
    static let attribute = "user.davit.stamp"

    /// True if the times of this file are too round to tell versions apart by them. The birth time counts,
    /// because whole seconds are common in files that were unpacked or copied with their times.
    static func isNeeded(for status: FileStatus) -> Bool {
        status.kind == .regular && status.modified % StampClock.coarseStep == 0
            && (status.created ?? 0) % StampClock.coarseStep == 0
    }

    static func read(from file: borrowing FileDescriptor, status: FileStatus) -> UInt64 {
        guard let value = try? file.attribute(attribute), value.count == 8 else {
            return UInt64(bitPattern: status.created ?? 0)
        }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Gives the file a stamp that no other has, if the volume can hold it.
    static func write(to file: borrowing FileDescriptor) {
        let stamp = UInt64(bitPattern: StampClock.shared.next())
        // Without attributes the birth time serves.
        try? file.setAttribute(
            attribute, to: (0..<8).map { UInt8(truncatingIfNeeded: stamp >> (56 - 8 * $0)) })
    }

    /// Gives content a modification time that no other content of this volume has had, and with it a new entity tag.
    ///
    /// The one place where a time that a client asked for meets the rule that a tag never comes again: the second is
    /// the client's, the rest of the time tells versions apart, or a stamp does where the volume cuts it off.
    ///
    /// - Parameters:
    ///   - file: open for reading or writing, and owned by this process.
    ///   - second: the time asked for, of which the second counts; nil for now. A volume that cannot hold it keeps the
    ///     nearest one it can (the ends of its range, even seconds on FAT): the result says which.
    ///   - old: the tag of what is replaced, or of this content before.
    /// - Returns: what the content is from now on.
    static func renew(
        _ file: borrowing FileDescriptor, within second: Timestamp?, unlike old: EntityTag?
    ) throws(SystemError) -> ResourceInfo {
        let clock = StampClock.shared
        while true {
            let time = second.map { clock.next(within: $0) } ?? clock.next()
            try file.setModified(time)
            let status = try file.status()
            if status.modified != time { write(to: file) }
            let info = ResourceInfo(status, of: file)
            if old == nil || info.entityTag != old { return info }
        }
    }
}

extension ResourceInfo {
    init(_ status: FileStatus, stamp: UInt64) {
        let isContent = status.kind != .directory
        self.init(
            kind: isContent ? .content : .collection,
            length: isContent ? status.length : 0,
            modified: Timestamp(nanoseconds: status.modified),
            created: status.created.map { Timestamp(nanoseconds: $0) },
            identity: ResourceIdentity(inode: status.inode, birth: status.created ?? 0),
            volume: status.volume,
            isExecutable: status.kind == .regular && status.mode & 0o100 != 0,
            stamp: stamp, hasOtherNames: status.kind == .regular && status.linkCount > 1)
    }

    /// - Parameter file: the file whose status it is, open for reading.
    init(_ status: FileStatus, of file: borrowing FileDescriptor) {
        self.init(status, stamp: Stamp.isNeeded(for: status) ? Stamp.read(from: file, status: status) : 0)
    }

    /// - Parameter directory: where the file is a member under `name`.
    init(_ status: FileStatus, of name: @autoclosure () -> [UInt8], in directory: borrowing FileDescriptor) {
        guard Stamp.isNeeded(for: status) else {
            self.init(status, stamp: 0)
            return
        }
        if let file = try? directory.open(name(), for: .content) {
            self.init(status, of: file)
        } else {
            self.init(status, stamp: UInt64(bitPattern: status.created ?? 0))
        }
    }
}
