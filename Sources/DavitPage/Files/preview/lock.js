// The editor's lock: taken on opening, refreshed while open, released on closing.

import { lock, propfind, unlock } from "../dav.js"
import { page } from "../page.js"
import { t } from "../strings.js"

/// Lock timeout, short so that a disconnected browser does not block others for long.
const seconds = 180

export class EditLock {
    #timer

    constructor(href) {
        this.href = href
        this.token = ""
        /// Whether another client holds a lock, and its owner.
        this.isForeign = false
        this.holder = ""
        this.onLost = () => {}
    }

    /// Resolves with whether the page holds the lock. Editing also works without a lock, because saving is conditional, unless
    /// another client holds one.
    async take() {
        if (this.token || !page.canWrite) return this.token !== ""
        try {
            this.token = await lock(this.href, { owner: page.user || t("preview.lockOwner"), timeout: seconds })
            this.isForeign = false
            this.#timer = setInterval(() => this.renew(), seconds * 1000 / 3)
            return true
        } catch (error) {
            if (error.status !== 423) return false
            this.isForeign = true
            await this.findHolder()
            return false
        }
    }

    async findHolder() {
        try {
            const [held] = (await propfind(this.href, { depth: 0 })).entries[0].locks
            this.holder = held?.principal || held?.owner || ""
        } catch { /* The holder remains unknown. */ }
    }

    async renew() {
        try {
            await lock(this.href, { token: this.token, timeout: seconds })
        } catch (error) {
            // Retry later if the server cannot be reached.
            if (error.status === 0 || error.status >= 500) return
            this.forget()
            if (!await this.take()) this.onLost()
        }
    }

    forget() {
        clearInterval(this.#timer)
        this.token = ""
    }

    /// Releases the lock. `isLeaving`: the page is being closed, so do not wait for the response.
    end(isLeaving = false) {
        const { token, href } = this
        this.forget()
        if (!token) return
        if (isLeaving) fetch(href, { method: "UNLOCK", headers: { "Lock-Token": `<${token}>` }, keepalive: true }).catch(() => {})
        else unlock(href, token).catch(() => {})
    }
}
