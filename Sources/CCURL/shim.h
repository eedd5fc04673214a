#ifndef DAVIT_CCURL_SHIM_H
#define DAVIT_CCURL_SHIM_H
#include <curl/curl.h>

/* Wrappers of variadic functions, which Swift cannot import. All return a CURLcode. */

static inline CURLcode davit_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode davit_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode davit_curl_set_fields(CURL *handle, struct curl_slist *fields) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
}

/* Sets the content of a POST request, which libcurl copies. */
static inline CURLcode davit_curl_set_content(CURL *handle, const char *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POST, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
    return code;
}

/* Sets the function that receives the content of the response, and its last argument. */
static inline CURLcode davit_curl_set_receiver(
    CURL *handle, size_t (*receive)(char *bytes, size_t size, size_t count, void *context), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    return code;
}

/* Sets the function that receives each line of the head of the response, and its last argument. */
static inline CURLcode davit_curl_set_head_receiver(
    CURL *handle, size_t (*receive)(char *bytes, size_t size, size_t count, void *context), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, receive);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    return code;
}

/* Sets the function that is called during a transfer, which ends if the result is not 0, and its first argument. */
static inline CURLcode davit_curl_set_progress(
    CURL *handle, int (*progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    return code;
}

/* The least version of TLS, as an option. */
static const long davit_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;

static inline CURLcode davit_curl_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}
#endif
