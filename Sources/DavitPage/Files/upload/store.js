// Stores a record for each unfinished upload in the browser's database, so that uploads survive a reload.
//
// Storage is best effort: browsers that store nothing, as in a private window, can still upload.

import { page } from "../page.js"

const databaseName = "davit-uploads"
const storeName = "uploads"

/// Identifies the share and the user in the records, because all shares of a server use the same database.
export const share = `${page.root} ${page.user ?? ""}`

let opening

function open() {
    opening ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(databaseName, 1)
        request.onupgradeneeded = () => {
            request.result.createObjectStore(storeName, { keyPath: "id" }).createIndex("share", "share")
        }
        request.onsuccess = () => {
            request.result.onversionchange = () => request.result.close()
            resolve(request.result)
        }
        request.onerror = () => reject(request.error)
        request.onblocked = () => reject(new Error("blocked"))
    })
    return opening
}

async function transact(mode, work) {
    const database = await open()
    return new Promise((resolve, reject) => {
        const transaction = database.transaction(storeName, mode)
        let result
        transaction.oncomplete = () => resolve(result)
        transaction.onabort = transaction.onerror = () => reject(transaction.error)
        work(transaction.objectStore(storeName), (value) => { result = value })
    })
}

// Writes are serialized and batched. Removal can be delayed: the page recognizes records of completed uploads by the files on
// the server.
const forgetMilliseconds = 200
// Maximum batch size, to keep tasks short.
const maxBatch = 100
const pending = new Map()
let writing

async function flush() {
    while (pending.size > 0) {
        const batch = [...pending].slice(0, maxBatch)
        for (const [id] of batch) pending.delete(id)
        try {
            await transact("readwrite", (store) => {
                for (const [id, record] of batch) {
                    if (record) store.put(record)
                    else store.delete(id)
                }
            })
        } catch {
            // If a handle or content cannot be stored, store the records without them, one by one.
            for (const [id, record] of batch) {
                const { handle, blob, ...plain } = record ?? {}
                await transact("readwrite", (store) => { record ? store.put(plain) : store.delete(id) }).catch(() => {})
            }
        }
    }
    writing = undefined
}

const schedule = (milliseconds) => {
    writing ??= new Promise((resolve) => { setTimeout(resolve, milliseconds) }).then(flush)
    return writing
}

/// Resolves when the record has been stored or could not be stored.
export function save(record) {
    pending.set(record.id, record)
    return schedule(0)
}

export function forget(id) {
    pending.set(id, undefined)
    return schedule(forgetMilliseconds)
}

/// Takes over the records of closed pages and returns them. `isAlive` returns whether the page of a session is open.
/// Transactions ensure that two pages that start at the same time do not get the same record.
export async function claim(share, session, isAlive) {
    try {
        return await transact("readwrite", (store, answer) => {
            const claimed = []
            answer(claimed)
            const request = store.index("share").openCursor(IDBKeyRange.only(share))
            request.onsuccess = () => {
                const cursor = request.result
                if (!cursor) return
                const record = cursor.value
                if (!isAlive(record.session)) {
                    record.session = session
                    cursor.update(record)
                    claimed.push(record)
                }
                cursor.continue()
            }
        })
    } catch {
        return []
    }
}

/// Returns the number of records of a share without reading them.
export async function count(share) {
    try {
        return await transact("readonly", (store, answer) => {
            const request = store.index("share").count(IDBKeyRange.only(share))
            request.onsuccess = () => answer(request.result)
        })
    } catch {
        return 0
    }
}
