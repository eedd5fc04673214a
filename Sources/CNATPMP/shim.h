#ifndef DAVIT_CNATPMP_SHIM_H
#define DAVIT_CNATPMP_SHIM_H
#include <natpmp.h>
#include <poll.h>
#include <string.h>

/* Sends a request for the public address (port 0), or for a TCP mapping. */
static inline int davit_natpmp_send(natpmp_t *gateway, unsigned short port, unsigned short external, unsigned int seconds) {
    int result = port == 0 ? sendpublicaddressrequest(gateway)
                           : sendnewportmappingrequest(gateway, NATPMP_PROTOCOL_TCP, port, external, seconds);
    return result < 0 ? result : 0;
}

/* Waits for the response at most until the library wants to send the request again, and at most for some milliseconds. Returns
   NATPMP_TRYAGAIN if there is none yet. */
static inline int davit_natpmp_receive(natpmp_t *gateway, natpmpresp_t *response, int milliseconds) {
    struct timeval timeout;
    if (getnatpmprequesttimeout(gateway, &timeout) == 0) {
        long left = timeout.tv_sec * 1000L + timeout.tv_usec / 1000 + 1;
        if (left < 0) left = 0;
        if (left < milliseconds) milliseconds = (int)left;
    }
    struct pollfd event = {gateway->s, POLLIN, 0};
    poll(&event, 1, milliseconds);
    return readnatpmpresponseorretry(gateway, response);
}

/* The public address in network byte order. */
static inline unsigned int davit_natpmp_address(const natpmpresp_t *response) { return response->pnu.publicaddress.addr.s_addr; }
static inline unsigned short davit_natpmp_port(const natpmpresp_t *response) { return response->pnu.newportmapping.mappedpublicport; }
static inline unsigned int davit_natpmp_seconds(const natpmpresp_t *response) { return response->pnu.newportmapping.lifetime; }
#endif
