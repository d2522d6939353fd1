/* The bytes of a cache entry: a header with lengths and digest, then PTX, cubin and log. */
#include "nvrtc/entry.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

struct header {
    char format[8];
    uint64_t ptx_length, cubin_length, log_length;
    double compile_ms;
    char digest[RUNG_HASH_HEX - 1];
};

char *rung_entry_path(const char *folder, const char *key)
{
    struct rung_text path = {0};
    rung_text_format(&path, "%s/%.2s/%s", folder, key, key + 2);
    return rung_text_take(&path);
}

/* The key is part of the digest: a file that was moved to another entry's name is damaged, too. */
static void seal(char digest[RUNG_HASH_HEX], const struct header *header, const char *key,
                 const char *payload)
{
    struct rung_hash hash;
    rung_hash_begin(&hash);
    rung_hash_string(&hash, key);
    rung_hash_field(&hash, header, offsetof(struct header, digest));
    rung_hash_field(&hash, payload, header->ptx_length);
    rung_hash_field(&hash, payload + header->ptx_length, header->cubin_length);
    rung_hash_field(&hash, payload + header->ptx_length + header->cubin_length, header->log_length);
    rung_hash_end(&hash, digest);
}

static bool verify(const struct header *header, const char *key, const char *payload, size_t left)
{
    if (memcmp(header->format, RUNG_CACHE_FORMAT, sizeof header->format) != 0)
        return false;
    const uint64_t lengths[] = {header->ptx_length, header->cubin_length, header->log_length};
    for (size_t i = 0; i < 3; i++) {
        if (lengths[i] > left)
            return false;
        left -= lengths[i];
    }
    if (left != 0 || header->ptx_length == 0)
        return false;
    char digest[RUNG_HASH_HEX];
    seal(digest, header, key, payload);
    return memcmp(digest, header->digest, sizeof header->digest) == 0;
}

/* `length` bytes with a NUL after them. */
static char *copy(const char *bytes, size_t length)
{
    char *result = malloc(length + 1);
    if (result) {
        memcpy(result, bytes, length);
        result[length] = '\0';
    }
    return result;
}

static enum rung_status unpack(struct rung_compiled *out, const struct header *header,
                               const char *payload)
{
    struct rung_compiled compiled = {
        .ptx = copy(payload, header->ptx_length),
        .ptx_length = header->ptx_length,
        .cubin_length = header->cubin_length,
        .log = copy(payload + header->ptx_length + header->cubin_length, header->log_length),
        .compile_ms = header->compile_ms,
        .from_cache = true,
    };
    if (header->cubin_length)
        compiled.cubin = (unsigned char *)copy(payload + header->ptx_length, header->cubin_length);
    if (!compiled.ptx || !compiled.log || (header->cubin_length && !compiled.cubin)) {
        rung_compiled_release(&compiled);
        return RUNG_MEMORY;
    }
    *out = compiled;
    return RUNG_OK;
}

enum rung_status rung_entry_read(struct rung_compiled *out, const char *path, const char *key)
{
    char *data = NULL;
    size_t length = 0;
    enum rung_status status = rung_file_read(&data, &length, path, NULL);
    if (status != RUNG_OK)
        return status;
    struct header header = {0};
    status = RUNG_WRONG;
    if (length >= sizeof header) {
        memcpy(&header, data, sizeof header);
        if (verify(&header, key, data + sizeof header, length - sizeof header))
            status = unpack(out, &header, data + sizeof header);
    }
    free(data);
    return status;
}

enum rung_status rung_entry_write(const char *path, const char *key,
                                  const struct rung_compiled *compiled, struct rung_error *err)
{
    struct rung_text bytes = {0};
    struct header header = {
        .ptx_length = compiled->ptx_length,
        .cubin_length = compiled->cubin_length,
        .log_length = strlen(compiled->log),
        .compile_ms = compiled->compile_ms,
    };
    memcpy(header.format, RUNG_CACHE_FORMAT, sizeof header.format);
    rung_text_append_bytes(&bytes, (const char *)&header, sizeof header);
    rung_text_append_bytes(&bytes, compiled->ptx, compiled->ptx_length);
    if (compiled->cubin)
        rung_text_append_bytes(&bytes, (const char *)compiled->cubin, compiled->cubin_length);
    rung_text_append(&bytes, compiled->log);
    enum rung_status status = RUNG_OK;
    if (!rung_text_ok(&bytes)) {
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    } else {
        char digest[RUNG_HASH_HEX];
        seal(digest, &header, key, bytes.data + sizeof header);
        memcpy(bytes.data + offsetof(struct header, digest), digest, sizeof header.digest);
        status = rung_file_write_unsynced(path, bytes.data, bytes.length, err);
    }
    rung_text_release(&bytes);
    return status;
}
