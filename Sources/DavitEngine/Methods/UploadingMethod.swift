internal import DavitAccess
internal import DavitHTTP

/// A method that ends with the commit of a PUT.
protocol UploadingMethod: ChangeMethod where Outcome == PutMethod.Outcome {
    var put: PutMethod { get }
}

extension UploadingMethod {
    func effects(on change: ChangeTarget) -> [WriteEffect] { put.effects(on: change) }

    var auditedOperation: AuditEvent.Operation? { put.auditedOperation }
    func describe(
        _ outcome: PutMethod.Outcome, on change: ChangeTarget, in event: inout AuditEvent
    ) -> Bool { put.describe(outcome, on: change, in: &event) }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { put.actionKind(on: change) }

    func finish(
        _ outcome: PutMethod.Outcome, on change: ChangeTarget
    ) async throws(WebDAVError) -> HTTPResponse { try await put.finish(outcome, on: change) }
}

extension UploadingMethod where Prepared == PreparedContent {
    func content(of prepared: PreparedContent) -> PreparedContent? { prepared }
}
