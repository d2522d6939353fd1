/* SHA-256 over length-prefixed fields, so that no two lists of fields share a digest by the way
 * they are joined. */
#ifndef RUNG_BASE_HASH_H
#define RUNG_BASE_HASH_H

#include <stddef.h>

#include <sha2.h>

#define RUNG_HASH_HEX 65 /* 64 lower-case hexadecimal digits and a NUL */

struct rung_hash {
    SHA2_CTX context;
};

void rung_hash_begin(struct rung_hash *hash);
void rung_hash_field(struct rung_hash *hash, const void *data, size_t length);
void rung_hash_string(struct rung_hash *hash, const char *string);
void rung_hash_end(struct rung_hash *hash, char hex[RUNG_HASH_HEX]);

#endif
