#ifndef DAVIT_CMINIUPNPC_SHIM_H
#define DAVIT_CMINIUPNPC_SHIM_H
#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>
#include <miniupnpc/upnperrors.h>
#include <stdio.h>
#include <stdlib.h>

/* A gateway that was found, and the address of this machine on the way to it. */
typedef struct davit_upnp {
    struct UPNPUrls urls;
    struct IGDdatas data;
    char own[64];
} davit_upnp;

/* Searches for a connected gateway. Returns NULL if there is none. */
static inline davit_upnp *davit_upnp_find(int milliseconds) {
    int error = 0;
    struct UPNPDev *devices = upnpDiscover(milliseconds, NULL, NULL, UPNP_LOCAL_PORT_ANY, 0, 2, &error);
    if (!devices) return NULL;
    davit_upnp *gateway = (davit_upnp *)calloc(1, sizeof *gateway);
    int found = 0;
    if (gateway) {
#if MINIUPNPC_API_VERSION >= 18
        char external[64];
        found = UPNP_GetValidIGD(devices, &gateway->urls, &gateway->data, gateway->own, sizeof gateway->own, external, sizeof external);
        int isUsable = found == 1 || found == 2;
#else
        found = UPNP_GetValidIGD(devices, &gateway->urls, &gateway->data, gateway->own, sizeof gateway->own);
        int isUsable = found == 1;
#endif
        if (!isUsable) {
            if (found) FreeUPNPUrls(&gateway->urls);
            free(gateway);
            gateway = NULL;
        }
    }
    freeUPNPDevlist(devices);
    return gateway;
}

static inline void davit_upnp_free(davit_upnp *gateway) {
    FreeUPNPUrls(&gateway->urls);
    free(gateway);
}

/* `address` has room for at least 64 bytes. */
static inline int davit_upnp_address(davit_upnp *gateway, char *address) {
    return UPNP_GetExternalIPAddress(gateway->urls.controlURL, gateway->data.first.servicetype, address);
}

/* Maps a TCP port. Without a lease, the mapping lasts until it is removed. */
static inline int davit_upnp_add(davit_upnp *gateway, unsigned port, unsigned external, unsigned seconds) {
    char inner[8], outer[8], lease[16];
    snprintf(inner, sizeof inner, "%u", port & 0xFFFF);
    snprintf(outer, sizeof outer, "%u", external & 0xFFFF);
    snprintf(lease, sizeof lease, "%u", seconds);
    return UPNP_AddPortMapping(gateway->urls.controlURL, gateway->data.first.servicetype, outer, inner, gateway->own, "davit", "TCP",
        NULL, lease);
}

static inline int davit_upnp_remove(davit_upnp *gateway, unsigned external) {
    char outer[8];
    snprintf(outer, sizeof outer, "%u", external & 0xFFFF);
    return UPNP_DeletePortMapping(gateway->urls.controlURL, gateway->data.first.servicetype, outer, "TCP", NULL);
}

static inline const char *davit_upnp_error(int code) {
    const char *text = strupnperror(code);
    return text ? text : "unknown error";
}
#endif
