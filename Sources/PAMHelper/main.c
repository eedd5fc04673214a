/* davit-pam-helper SERVICE [FOLDER]: checks one name and password with PAM, and exits.

   Reads the name and the password from standard input, each followed by a zero byte. Writes one line with the result, `right`,
   `wrong`, `disabled` or `unavailable` with a reason; after `right` also lines with the name of the user and with the names of its groups;
   and at the end a line with a dot.

   A process of its own, because PAM modules run in the process of their caller: they can block, crash, and require permissions
   that the server should not have. Reading /etc/shadow requires the group shadow: give the program the owner that the server
   runs as, the group shadow and the mode 2550, so that no other user can run it.

   FOLDER contains the service files instead of /etc/pam.d, for tests. It is refused if the program has more permissions than its
   caller. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#ifndef DAVIT_PAM
int main(void) {
    puts("unavailable built without the package trait PAM\n.");
    return 1;
}
#else
#include <grp.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The caller ends the process earlier; this is for callers that have ended themselves. */
enum { LONGEST_SECONDS = 30, LONGEST_INPUT = 1024, MOST_GROUPS = 256 };

struct credentials {
    const char *name, *password;
    int used;
};

static void wipe(void *memory, size_t length) {
    volatile char *bytes = memory;
    while (length--) *bytes++ = 0;
}

/* Answers the first question for a password, and questions for the name. A second password, such as a code, is unknown. */
static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *context) {
    struct credentials *credentials = context;
    if (count < 1 || count > PAM_MAX_NUM_MSG) return PAM_CONV_ERR;
    struct pam_response *answers = calloc((size_t)count, sizeof *answers);
    if (!answers) return PAM_BUF_ERR;
    for (int i = 0; i < count; i++) {
        const char *answer = NULL;
        switch (messages[i]->msg_style) {
        case PAM_PROMPT_ECHO_OFF:
            if (!credentials->used++) answer = credentials->password;
            break;
        case PAM_PROMPT_ECHO_ON: answer = credentials->name; break;
        case PAM_TEXT_INFO:
        case PAM_ERROR_MSG: continue;
        default: break;
        }
        if (answer) answers[i].resp = strdup(answer);
        if (!answers[i].resp) {
            for (int j = 0; j < i; j++) {
                if (answers[j].resp) wipe(answers[j].resp, strlen(answers[j].resp));
                free(answers[j].resp);
            }
            free(answers);
            return PAM_CONV_ERR;
        }
    }
    *responses = answers;
    return PAM_SUCCESS;
}

static int finish(const char *result, const char *reason) {
    printf("%s%s%s\n.\n", result, reason ? " " : "", reason ? reason : "");
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Prints the user and the groups. Without all groups, a user could have more rights, so a failed lookup is an outage. */
static int finish_right(const char *name) {
    gid_t groups[MOST_GROUPS];
    char *names[MOST_GROUPS];
    int count = MOST_GROUPS, found = 0;
    errno = 0;
    struct passwd *user = getpwnam(name);
    if (!user) {
        if (errno != 0 && errno != ENOENT && errno != ESRCH) return finish("unavailable", "cannot look up the user");
        /* Users who are only known to PAM have no groups. */
        count = 0;
    } else if (getgrouplist(name, user->pw_gid, groups, &count) < 0) {
        return finish("disabled", NULL); /* more groups than fit */
    }
    for (int i = 0; i < count; i++) {
        errno = 0;
        struct group *group = getgrgid(groups[i]);
        if (!group && errno != 0 && errno != ENOENT && errno != ESRCH)
            return finish("unavailable", "cannot look up a group");
        if (!group || strchr(group->gr_name, '\n')) continue;
        names[found] = strdup(group->gr_name);
        if (!names[found++]) return finish("unavailable", "out of memory");
    }
    printf("right\n%s\n", name);
    for (int i = 0; i < found; i++) printf("%s\n", names[i]);
    puts(".");
    return fflush(stdout) == 0 ? 0 : 1;
}

static int check(pam_handle_t *pam) {
    int code = pam_authenticate(pam, PAM_SILENT | PAM_DISALLOW_NULL_AUTHTOK);
    switch (code) {
    case PAM_SUCCESS: break;
    case PAM_AUTH_ERR:
    case PAM_USER_UNKNOWN:
    case PAM_MAXTRIES:
    case PAM_PERM_DENIED:
    case PAM_CRED_INSUFFICIENT:
    case PAM_CONV_ERR: return finish("wrong", NULL);
    case PAM_ACCT_EXPIRED: return finish("disabled", NULL);
    default: return finish("unavailable", pam_strerror(pam, code));
    }
    code = pam_acct_mgmt(pam, PAM_SILENT | PAM_DISALLOW_NULL_AUTHTOK);
    switch (code) {
    case PAM_SUCCESS: break;
    case PAM_ACCT_EXPIRED:
    case PAM_NEW_AUTHTOK_REQD:
    case PAM_AUTHTOK_EXPIRED:
    case PAM_AUTH_ERR:
    case PAM_USER_UNKNOWN:
    case PAM_PERM_DENIED: return finish("disabled", NULL);
    default: return finish("unavailable", pam_strerror(pam, code));
    }
    const void *item = NULL;
    if (pam_get_item(pam, PAM_USER, &item) != PAM_SUCCESS || !item || strchr(item, '\n'))
        return finish("unavailable", "no user name");
    return finish_right(item);
}

int main(int count, char **arguments) {
    alarm(LONGEST_SECONDS);
    if (count < 2 || count > 3) return finish("unavailable", "usage: davit-pam-helper SERVICE");
    const char *folder = count == 3 ? arguments[2] : NULL;
    if (folder && (getuid() != geteuid() || getgid() != getegid()))
        return finish("unavailable", "a folder for service files cannot be given");
    char input[LONGEST_INPUT + 1] = {0};
    size_t length = 0;
    ssize_t got;
    while (length < LONGEST_INPUT && (got = read(0, input + length, LONGEST_INPUT - length)) > 0) length += (size_t)got;
    size_t name = strnlen(input, length);
    size_t password = name < length ? strnlen(input + name + 1, length - name - 1) : 0;
    if (name == 0 || password == 0 || name + password + 2 != length) return finish("wrong", NULL);

    struct credentials credentials = {input, input + name + 1, 0};
    struct pam_conv conversation = {converse, &credentials};
    pam_handle_t *pam = NULL;
#ifdef __linux__
    int code = pam_start_confdir(arguments[1], input, &conversation, folder, &pam);
#else
    int code = folder ? PAM_SYSTEM_ERR : pam_start(arguments[1], input, &conversation, &pam);
#endif
    if (code != PAM_SUCCESS) return finish("unavailable", "PAM cannot be started");
    int status = check(pam);
    pam_end(pam, code);
    wipe(input, sizeof input);
    return status;
}
#endif
