internal import DavitHTTP
internal import DavitStore

/// MKCOL (RFC 4918 §9.3): creates an empty collection at the target. ``ExtendedMkColMethod`` handles MKCOL
/// with content.
struct MkColMethod: BriefMethod {
    let share: Share
    var makesTarget: Bool { true }
    var expectsFreeNames: Bool { true }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        switch scene.target.state {
        case .mapped(let info):
            throw .methodNotAllowed(info.isCollection ? AllowedMethods.collection : AllowedMethods.content)
        case .unmapped: return [.write(scene.target.path), .member(scene.target.path)]
        case .missingAncestor: throw WebDAVError(.conflict)
        case .unservable: throw WebDAVError(.forbidden)
        }
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .createCollection }

    func canBeBrief(_ prepared: Void) -> Bool { true }
    func isBrief(on scene: Scene) -> Bool { true }

    func commit(_ scene: Scene, _ prepared: Void, guard: WriteGuard) throws(WebDAVError) {
        try storing { () throws(StoreError) in
            try share.resources.createCollection(at: scene.target.place)
        }
    }

    func finish(_ outcome: Void, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        HTTPResponse(.created)
    }

    func response(to outcome: Void, on scene: Scene) -> HTTPResponse? { HTTPResponse(.created) }
}
