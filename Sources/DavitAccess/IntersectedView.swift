package import DavitHTTP

/// The rights that several views have in common.
package struct IntersectedView: AccessView {
    private let views: [any AccessView]

    package init(_ views: [any AccessView]) { self.views = views }

    package func rights(at path: ResourcePath) -> Rights {
        views.reduce(.all) { $0.intersection($1.rights(at: path)) }
    }

    package func rightsThroughout(_ path: ResourcePath) -> Rights {
        views.reduce(.all) { $0.intersection($1.rightsThroughout(path)) }
    }

    package func leadsToRights(_ path: ResourcePath) -> Bool { views.allSatisfy { $0.leadsToRights(path) } }
}
