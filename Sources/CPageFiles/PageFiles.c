// Embeds the files of the browser page in the binary with #embed (C23 §6.10.4), which Swift does not support. Each file is
// listed twice, because the path of the directive cannot contain a macro.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CPageFiles.h"

static const unsigned char actions_js[] = {
#embed "../DavitPage/Files/actions.js"
};
static const unsigned char change_badge_js[] = {
#embed "../DavitPage/Files/change/badge.js"
};
static const unsigned char change_change_css[] = {
#embed "../DavitPage/Files/change/change.css"
};
static const unsigned char change_clipboard_js[] = {
#embed "../DavitPage/Files/change/clipboard.js"
};
static const unsigned char change_conflict_js[] = {
#embed "../DavitPage/Files/change/conflict.js"
};
static const unsigned char change_create_js[] = {
#embed "../DavitPage/Files/change/create.js"
};
static const unsigned char change_download_js[] = {
#embed "../DavitPage/Files/change/download.js"
};
static const unsigned char change_drag_js[] = {
#embed "../DavitPage/Files/change/drag.js"
};
static const unsigned char change_locks_js[] = {
#embed "../DavitPage/Files/change/locks.js"
};
static const unsigned char change_remove_js[] = {
#embed "../DavitPage/Files/change/remove.js"
};
static const unsigned char change_rename_js[] = {
#embed "../DavitPage/Files/change/rename.js"
};
static const unsigned char change_start_js[] = {
#embed "../DavitPage/Files/change/start.js"
};
static const unsigned char change_transfer_js[] = {
#embed "../DavitPage/Files/change/transfer.js"
};
static const unsigned char change_trash_js[] = {
#embed "../DavitPage/Files/change/trash.js"
};
static const unsigned char change_tree_js[] = {
#embed "../DavitPage/Files/change/tree.js"
};
static const unsigned char change_work_js[] = {
#embed "../DavitPage/Files/change/work.js"
};
static const unsigned char clipboard_js[] = {
#embed "../DavitPage/Files/clipboard.js"
};
static const unsigned char connect_css[] = {
#embed "../DavitPage/Files/connect.css"
};
static const unsigned char connect_js[] = {
#embed "../DavitPage/Files/connect.js"
};
static const unsigned char dav_js[] = {
#embed "../DavitPage/Files/dav.js"
};
static const unsigned char details_js[] = {
#embed "../DavitPage/Files/details.js"
};
static const unsigned char dialog_js[] = {
#embed "../DavitPage/Files/dialog.js"
};
static const unsigned char element_js[] = {
#embed "../DavitPage/Files/element.js"
};
static const unsigned char entry_js[] = {
#embed "../DavitPage/Files/entry.js"
};
static const unsigned char errors_js[] = {
#embed "../DavitPage/Files/errors.js"
};
static const unsigned char favicon_svg[] = {
#embed "../DavitPage/Files/favicon.svg"
};
static const unsigned char folder_js[] = {
#embed "../DavitPage/Files/folder.js"
};
static const unsigned char header_js[] = {
#embed "../DavitPage/Files/header.js"
};
static const unsigned char help_js[] = {
#embed "../DavitPage/Files/help.js"
};
static const unsigned char href_js[] = {
#embed "../DavitPage/Files/href.js"
};
static const unsigned char icons_svg[] = {
#embed "../DavitPage/Files/icons.svg"
};
static const unsigned char items_js[] = {
#embed "../DavitPage/Files/items.js"
};
static const unsigned char listing_worker_js[] = {
#embed "../DavitPage/Files/listing-worker.js"
};
static const unsigned char live_stream_js[] = {
#embed "../DavitPage/Files/live-stream.js"
};
static const unsigned char live_worker_js[] = {
#embed "../DavitPage/Files/live-worker.js"
};
static const unsigned char live_js[] = {
#embed "../DavitPage/Files/live.js"
};
static const unsigned char load_js[] = {
#embed "../DavitPage/Files/load.js"
};
static const unsigned char main_js[] = {
#embed "../DavitPage/Files/main.js"
};
static const unsigned char menu_js[] = {
#embed "../DavitPage/Files/menu.js"
};
static const unsigned char messages_js[] = {
#embed "../DavitPage/Files/messages.js"
};
static const unsigned char names_js[] = {
#embed "../DavitPage/Files/names.js"
};
static const unsigned char page_css[] = {
#embed "../DavitPage/Files/page.css"
};
static const unsigned char page_js[] = {
#embed "../DavitPage/Files/page.js"
};
static const unsigned char people_access_js[] = {
#embed "../DavitPage/Files/people/access.js"
};
static const unsigned char people_admin_js[] = {
#embed "../DavitPage/Files/people/admin.js"
};
static const unsigned char people_api_js[] = {
#embed "../DavitPage/Files/people/api.js"
};
static const unsigned char people_passwords_js[] = {
#embed "../DavitPage/Files/people/passwords.js"
};
static const unsigned char people_people_css[] = {
#embed "../DavitPage/Files/people/people.css"
};
static const unsigned char people_rules_js[] = {
#embed "../DavitPage/Files/people/rules.js"
};
static const unsigned char people_start_js[] = {
#embed "../DavitPage/Files/people/start.js"
};
static const unsigned char people_strings_de_txt[] = {
#embed "../DavitPage/Files/people/strings/de.txt"
};
static const unsigned char people_strings_en_txt[] = {
#embed "../DavitPage/Files/people/strings/en.txt"
};
static const unsigned char people_strings_es_txt[] = {
#embed "../DavitPage/Files/people/strings/es.txt"
};
static const unsigned char people_strings_fr_txt[] = {
#embed "../DavitPage/Files/people/strings/fr.txt"
};
static const unsigned char people_strings_zh_Hans_txt[] = {
#embed "../DavitPage/Files/people/strings/zh-Hans.txt"
};
static const unsigned char plain_css[] = {
#embed "../DavitPage/Files/plain.css"
};
static const unsigned char preview_editor_js[] = {
#embed "../DavitPage/Files/preview/editor.js"
};
static const unsigned char preview_encoding_js[] = {
#embed "../DavitPage/Files/preview/encoding.js"
};
static const unsigned char preview_image_js[] = {
#embed "../DavitPage/Files/preview/image.js"
};
static const unsigned char preview_inline_js[] = {
#embed "../DavitPage/Files/preview/inline.js"
};
static const unsigned char preview_languages_js[] = {
#embed "../DavitPage/Files/preview/languages.js"
};
static const unsigned char preview_lock_js[] = {
#embed "../DavitPage/Files/preview/lock.js"
};
static const unsigned char preview_main_js[] = {
#embed "../DavitPage/Files/preview/main.js"
};
static const unsigned char preview_markdown_js[] = {
#embed "../DavitPage/Files/preview/markdown.js"
};
static const unsigned char preview_player_js[] = {
#embed "../DavitPage/Files/preview/player.js"
};
static const unsigned char preview_preview_css[] = {
#embed "../DavitPage/Files/preview/preview.css"
};
static const unsigned char preview_start_js[] = {
#embed "../DavitPage/Files/preview/start.js"
};
static const unsigned char preview_text_js[] = {
#embed "../DavitPage/Files/preview/text.js"
};
static const unsigned char preview_tokens_js[] = {
#embed "../DavitPage/Files/preview/tokens.js"
};
static const unsigned char rights_js[] = {
#embed "../DavitPage/Files/rights.js"
};
static const unsigned char scan_js[] = {
#embed "../DavitPage/Files/scan.js"
};
static const unsigned char search_js[] = {
#embed "../DavitPage/Files/search.js"
};
static const unsigned char settings_js[] = {
#embed "../DavitPage/Files/settings.js"
};
static const unsigned char signin_js[] = {
#embed "../DavitPage/Files/signin.js"
};
static const unsigned char storage_js[] = {
#embed "../DavitPage/Files/storage.js"
};
static const unsigned char strings_js[] = {
#embed "../DavitPage/Files/strings.js"
};
static const unsigned char strings_de_txt[] = {
#embed "../DavitPage/Files/strings/de.txt"
};
static const unsigned char strings_en_txt[] = {
#embed "../DavitPage/Files/strings/en.txt"
};
static const unsigned char strings_es_txt[] = {
#embed "../DavitPage/Files/strings/es.txt"
};
static const unsigned char strings_fr_txt[] = {
#embed "../DavitPage/Files/strings/fr.txt"
};
static const unsigned char strings_zh_hans_txt[] = {
#embed "../DavitPage/Files/strings/zh-Hans.txt"
};
static const unsigned char summary_js[] = {
#embed "../DavitPage/Files/summary.js"
};
static const unsigned char theme_js[] = {
#embed "../DavitPage/Files/theme.js"
};
static const unsigned char thumbnails_js[] = {
#embed "../DavitPage/Files/thumbnails.js"
};
static const unsigned char toolbar_js[] = {
#embed "../DavitPage/Files/toolbar.js"
};
static const unsigned char upload_adler32_js[] = {
#embed "../DavitPage/Files/upload/adler32.js"
};
static const unsigned char upload_digests_js[] = {
#embed "../DavitPage/Files/upload/digests.js"
};
static const unsigned char upload_gather_js[] = {
#embed "../DavitPage/Files/upload/gather.js"
};
static const unsigned char upload_main_js[] = {
#embed "../DavitPage/Files/upload/main.js"
};
static const unsigned char upload_panel_js[] = {
#embed "../DavitPage/Files/upload/panel.js"
};
static const unsigned char upload_pick_js[] = {
#embed "../DavitPage/Files/upload/pick.js"
};
static const unsigned char upload_prepare_js[] = {
#embed "../DavitPage/Files/upload/prepare.js"
};
static const unsigned char upload_queue_js[] = {
#embed "../DavitPage/Files/upload/queue.js"
};
static const unsigned char upload_row_js[] = {
#embed "../DavitPage/Files/upload/row.js"
};
static const unsigned char upload_send_js[] = {
#embed "../DavitPage/Files/upload/send.js"
};
static const unsigned char upload_sha256_js[] = {
#embed "../DavitPage/Files/upload/sha256.js"
};
static const unsigned char upload_start_js[] = {
#embed "../DavitPage/Files/upload/start.js"
};
static const unsigned char upload_store_js[] = {
#embed "../DavitPage/Files/upload/store.js"
};
static const unsigned char upload_transfer_js[] = {
#embed "../DavitPage/Files/upload/transfer.js"
};
static const unsigned char upload_upload_css[] = {
#embed "../DavitPage/Files/upload/upload.css"
};
static const unsigned char upload_upload_js[] = {
#embed "../DavitPage/Files/upload/upload.js"
};
static const unsigned char upload_worker_js[] = {
#embed "../DavitPage/Files/upload/worker.js"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const struct davit_page_file files[] = {
    FILE("actions.js", actions_js),
    FILE("change/badge.js", change_badge_js),
    FILE("change/change.css", change_change_css),
    FILE("change/clipboard.js", change_clipboard_js),
    FILE("change/conflict.js", change_conflict_js),
    FILE("change/create.js", change_create_js),
    FILE("change/download.js", change_download_js),
    FILE("change/drag.js", change_drag_js),
    FILE("change/locks.js", change_locks_js),
    FILE("change/remove.js", change_remove_js),
    FILE("change/rename.js", change_rename_js),
    FILE("change/start.js", change_start_js),
    FILE("change/transfer.js", change_transfer_js),
    FILE("change/trash.js", change_trash_js),
    FILE("change/tree.js", change_tree_js),
    FILE("change/work.js", change_work_js),
    FILE("clipboard.js", clipboard_js),
    FILE("connect.css", connect_css),
    FILE("connect.js", connect_js),
    FILE("dav.js", dav_js),
    FILE("details.js", details_js),
    FILE("dialog.js", dialog_js),
    FILE("element.js", element_js),
    FILE("entry.js", entry_js),
    FILE("errors.js", errors_js),
    FILE("favicon.svg", favicon_svg),
    FILE("folder.js", folder_js),
    FILE("header.js", header_js),
    FILE("help.js", help_js),
    FILE("href.js", href_js),
    FILE("icons.svg", icons_svg),
    FILE("items.js", items_js),
    FILE("listing-worker.js", listing_worker_js),
    FILE("live-stream.js", live_stream_js),
    FILE("live-worker.js", live_worker_js),
    FILE("live.js", live_js),
    FILE("load.js", load_js),
    FILE("main.js", main_js),
    FILE("menu.js", menu_js),
    FILE("messages.js", messages_js),
    FILE("names.js", names_js),
    FILE("page.css", page_css),
    FILE("page.js", page_js),
    FILE("people/access.js", people_access_js),
    FILE("people/admin.js", people_admin_js),
    FILE("people/api.js", people_api_js),
    FILE("people/passwords.js", people_passwords_js),
    FILE("people/people.css", people_people_css),
    FILE("people/rules.js", people_rules_js),
    FILE("people/start.js", people_start_js),
    FILE("people/strings/de.txt", people_strings_de_txt),
    FILE("people/strings/en.txt", people_strings_en_txt),
    FILE("people/strings/es.txt", people_strings_es_txt),
    FILE("people/strings/fr.txt", people_strings_fr_txt),
    FILE("people/strings/zh-Hans.txt", people_strings_zh_Hans_txt),
    FILE("plain.css", plain_css),
    FILE("preview/editor.js", preview_editor_js),
    FILE("preview/encoding.js", preview_encoding_js),
    FILE("preview/image.js", preview_image_js),
    FILE("preview/inline.js", preview_inline_js),
    FILE("preview/languages.js", preview_languages_js),
    FILE("preview/lock.js", preview_lock_js),
    FILE("preview/main.js", preview_main_js),
    FILE("preview/markdown.js", preview_markdown_js),
    FILE("preview/player.js", preview_player_js),
    FILE("preview/preview.css", preview_preview_css),
    FILE("preview/start.js", preview_start_js),
    FILE("preview/text.js", preview_text_js),
    FILE("preview/tokens.js", preview_tokens_js),
    FILE("rights.js", rights_js),
    FILE("scan.js", scan_js),
    FILE("search.js", search_js),
    FILE("settings.js", settings_js),
    FILE("signin.js", signin_js),
    FILE("storage.js", storage_js),
    FILE("strings.js", strings_js),
    FILE("strings/de.txt", strings_de_txt),
    FILE("strings/en.txt", strings_en_txt),
    FILE("strings/es.txt", strings_es_txt),
    FILE("strings/fr.txt", strings_fr_txt),
    FILE("strings/zh-Hans.txt", strings_zh_hans_txt),
    FILE("summary.js", summary_js),
    FILE("theme.js", theme_js),
    FILE("thumbnails.js", thumbnails_js),
    FILE("toolbar.js", toolbar_js),
    FILE("upload/adler32.js", upload_adler32_js),
    FILE("upload/digests.js", upload_digests_js),
    FILE("upload/gather.js", upload_gather_js),
    FILE("upload/main.js", upload_main_js),
    FILE("upload/panel.js", upload_panel_js),
    FILE("upload/pick.js", upload_pick_js),
    FILE("upload/prepare.js", upload_prepare_js),
    FILE("upload/queue.js", upload_queue_js),
    FILE("upload/row.js", upload_row_js),
    FILE("upload/send.js", upload_send_js),
    FILE("upload/sha256.js", upload_sha256_js),
    FILE("upload/start.js", upload_start_js),
    FILE("upload/store.js", upload_store_js),
    FILE("upload/transfer.js", upload_transfer_js),
    FILE("upload/upload.css", upload_upload_css),
    FILE("upload/upload.js", upload_upload_js),
    FILE("upload/worker.js", upload_worker_js),
};

size_t davit_page_file_count(void) { return sizeof files / sizeof *files; }

struct davit_page_file davit_page_file_at(size_t index) { return files[index]; }
