internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// What stands at the target, and for COPY and MOVE at the destination, at one moment.
///
/// An object and not a value, because every step of a change hands it on.
final class Scene: Sendable {
    let context: RequestContext
    /// What the method acts on; for DELETE and MOVE that can be a link.
    let target: Lookup
    /// What a client sees at the target, which for a link is what it leads to: preconditions, `If` and a slash
    /// at the end are about this. Elsewhere the same as ``target``.
    let subject: Lookup
    let destination: Lookup?
    /// What a client sees at the destination.
    let destinationSubject: Lookup?
    /// The canonical paths of the resources that `If` names besides.
    let tagged: [ResourcePath]

    init(
        context: RequestContext, target: Lookup, subject: Lookup, destination: Lookup? = nil,
        destinationSubject: Lookup? = nil, tagged: [ResourcePath] = []
    ) {
        self.context = context
        self.target = target
        self.subject = subject
        self.destination = destination
        self.destinationSubject = destinationSubject
        self.tagged = tagged
    }

    /// Whether the change happens at the same place.
    func isInPlace(of other: Scene) -> Bool {
        target.path == other.target.path && destination?.path == other.destination?.path
    }

    /// What the checks rest on besides the place of the change.
    var pathsBeside: [ResourcePath] {
        var paths = tagged
        if subject.path != target.path { paths.append(subject.path) }
        if let seen = destinationSubject?.path, seen != destination?.path { paths.append(seen) }
        return paths
    }

    /// Whether the checks and the change rest on the same paths.
    func restsOnPaths(of other: Scene) -> Bool { isInPlace(of: other) && pathsBeside == other.pathsBeside }

    /// The locks on what a link leads to protect the link as well: its holder has locked that name.
    var linkEffects: [Effect] {
        var effects: [Effect] = []
        if subject.path != target.path { effects.append(.write(subject.path)) }
        if let destination, let destinationSubject, destinationSubject.path != destination.path {
            effects.append(.write(destinationSubject.path))
        }
        return effects
    }
}

/// A change that is nothing but rows.
struct RowChange<Outcome: Sendable>: Sendable {
    var rows: [StateChange]
    /// What follows when they are committed.
    var outcome: Outcome
    /// What follows if they would exceed the limit on properties; nil for the error.
    var outcomeIfTooLarge: Outcome?
}

/// A method that changes something. ``Share/change(_:context:)`` drives it, so that preconditions, `If` and
/// locks are checked in one place, and again in one section with the change:
///
/// 1. the scene is looked up, ``effects(on:)`` says what would change, the guard checks it;
/// 2. ``prepare(_:)`` receives a body or builds a copy, outside of any section, as long as it takes
///    (a method that ``needsNoScene(_:)`` to prepare starts here, with the paths as they were asked for);
/// 3. in a section that claims only the paths that change: scene, effects and guard once more, then
///    ``commit(_:_:guard:)`` as one synchronous run;
/// 4. ``finish(_:in:)`` removes what was replaced, and answers.
protocol ChangeMethod: Sendable {
    associatedtype Prepared: Sendable
    associatedtype Outcome: Sendable

    var share: Share { get }
    /// Whether a link at the target is followed, or meant itself.
    var targetSegment: LastSegment { get }
    /// The destination as asked, and whether a link there is followed; nil for most methods.
    var destination: (path: ResourcePath, last: LastSegment)? { get }

    /// True if preparing is cheap and refusing early would save the client nothing: no body, or a short one that
    /// is on its way already. The first look then is the one that counts, in the section.
    func needsNoScene(_ request: HTTPRequest) -> Bool
    /// Whether what ``prepare(_:)`` has made for one scene can be committed in another.
    func serves(_ prepared: Prepared, from first: Scene, in scene: Scene) -> Bool

    /// Whether the method gives the target a new spelling, where the destination is the target's own name in another
    /// one.
    var respellsTarget: Bool { get }

    /// What it does on this scene, for those who have a say in it; nil if it makes, moves or removes nothing.
    func actionKind(on scene: Scene) -> ShareAction.Kind?
    /// The resource that gets another place, with all that is below it; nil for methods that move nothing.
    func movedTree(on scene: Scene) -> MovedTree?
    /// What it is about, if that is in the trash.
    var trashEntry: TrashEntry? { get }
    /// What it is about, if that is a lock.
    var brokenLock: Lock? { get }
    /// What was received for an upload; nil for one without content.
    func content(of prepared: Prepared) -> PreparedContent?

    /// Refuses what the method can never do here, and says what it will change.
    func effects(on scene: Scene) throws(WebDAVError) -> [Effect]
    func prepare(_ scene: Scene) async throws(WebDAVError) -> Prepared
    /// Removes what was prepared for `scene` and will not be committed.
    func discard(_ prepared: Prepared, for scene: Scene) async
    /// How the paths that change are claimed.
    func claims(on scene: Scene) -> [Claim]
    /// Whether the method makes something at a target that must be free.
    var makesTarget: Bool { get }
    /// Whether the commit may be brief: then it is tried on the event loop, where its volume is in memory.
    func canBeBrief(_ prepared: Prepared) -> Bool
    /// Whether it is: one change of a name, of little content, and without rows.
    func isBrief(on scene: Scene) -> Bool
    /// Whether the commit may have to copy or remove a lot.
    func commitsLongWork(on scene: Scene, _ prepared: Prepared) -> Bool
    func commit(_ scene: Scene, _ prepared: Prepared, guard: WriteGuard) throws(WebDAVError) -> Outcome
    /// True if it may be enough to change rows.
    var mayChangeRowsOnly: Bool { get }
    /// What `commit` would do, where that is to change rows and to touch no resource: the event loop then looks,
    /// checks and decides, and no thread waits for the commit. Nil where it is not.
    func rowChange(
        _ scene: Scene, _ prepared: Prepared, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>?
    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse
}

extension ChangeMethod {
    var targetSegment: LastSegment { .followed }
    func needsNoScene(_ request: HTTPRequest) -> Bool {
        if request.expectsContinue { return false }
        return !request.body.isPresent || request.body.declaredLength.map { $0 <= Self.shortBytes } ?? false
    }
    /// Bytes of a body that are taken before anything is looked at.
    static var shortBytes: Int64 { 64 << 10 }
    var destination: (path: ResourcePath, last: LastSegment)? { nil }
    func serves(_ prepared: Prepared, from first: Scene, in scene: Scene) -> Bool { true }
    var respellsTarget: Bool { false }
    func movedTree(on scene: Scene) -> MovedTree? { nil }
    func discard(_ prepared: Prepared, for scene: Scene) async {}
    func commitsLongWork(on scene: Scene, _ prepared: Prepared) -> Bool { false }
    var trashEntry: TrashEntry? { nil }
    var brokenLock: Lock? { nil }
    func content(of prepared: Prepared) -> PreparedContent? { nil }
    var makesTarget: Bool { false }
    func canBeBrief(_ prepared: Prepared) -> Bool { false }
    func isBrief(on scene: Scene) -> Bool { false }
    func claims(on scene: Scene) -> [Claim] { [Claim(path: scene.target.path, mode: .exclusive)] }
    var mayChangeRowsOnly: Bool { false }
    func rowChange(
        _ scene: Scene, _ prepared: Prepared, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? { nil }
}

extension ChangeMethod where Prepared == Void {
    func prepare(_ scene: Scene) async throws(WebDAVError) {}
}
