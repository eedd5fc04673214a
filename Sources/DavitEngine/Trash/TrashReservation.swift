internal import DavitStore

/// A trash entry that a change is about to create.
struct TrashReservation: Sendable {
    let entry: TrashEntry
    let trash: TrashLocation
}
