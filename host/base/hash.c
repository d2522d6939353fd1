/* Length-prefixed hashing over libmd's SHA-256. */
#include "base/hash.h"

#include <stdint.h>
#include <string.h>

void rung_hash_begin(struct rung_hash *hash)
{
    SHA256Init(&hash->context);
}

void rung_hash_field(struct rung_hash *hash, const void *data, size_t length)
{
    uint8_t prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (uint8_t)((uint64_t)length >> (8 * i));
    SHA256Update(&hash->context, prefix, sizeof prefix);
    SHA256Update(&hash->context, data, length);
}

void rung_hash_string(struct rung_hash *hash, const char *string)
{
    rung_hash_field(hash, string, strlen(string));
}

void rung_hash_end(struct rung_hash *hash, char hex[RUNG_HASH_HEX])
{
    SHA256End(&hash->context, hex);
}
