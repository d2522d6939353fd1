/* Reading a cubin: first the frame (header, section and program tables, string tables), then the
 * kernels. Fields are copied out before use, for a file may put anything at any alignment. */
#include "cubin/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define SYMBOL_IS_ENTRY 0x10 /* in st_other: a kernel, not a device function */
#define RESERVED_FROM_SM 90  /* from here on each kernel's shared section holds 1 KiB more */
#define RESERVED_BYTES 1024
#define INFO_SIZED 4        /* .nv.info: format of an attribute that has a payload */
#define INFO_REGISTERS 0x2f /* payload {symbol index, register count} */

struct view {
    const unsigned char *bytes;
    size_t length;
    Elf64_Ehdr header;
    const char *names; /* the section names, NUL-terminated as a whole */
    size_t names_length;
    size_t *kernel_of_section; /* index + 1 into kernels; 0: the section is no kernel's code */
    struct rung_error *err;
};

static enum rung_status broken(const struct view *view, const char *what)
{
    return rung_fail(view->err, RUNG_USAGE, "damaged cubin of %zu bytes: %s", view->length, what);
}

static bool inside(const struct view *view, uint64_t offset, uint64_t size)
{
    return offset <= view->length && size <= view->length - offset;
}

static Elf64_Shdr section_at(const struct view *view, size_t index)
{
    Elf64_Shdr section;
    memcpy(&section, view->bytes + view->header.e_shoff + index * sizeof section, sizeof section);
    return section;
}

static uint32_t word_at(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The string at `offset` of a table that ends in a NUL; "" outside it. */
static const char *string_at(const char *table, size_t length, uint64_t offset)
{
    return offset < length ? table + offset : "";
}

/* A table of strings is usable when its last byte is a NUL: then no string runs out of it. */
static bool find_strings(const struct view *view, size_t index, const char **table, size_t *length)
{
    if (index >= view->header.e_shnum)
        return false;
    Elf64_Shdr section = section_at(view, index);
    if (section.sh_type != SHT_STRTAB || section.sh_size == 0)
        return false;
    *table = (const char *)view->bytes + section.sh_offset;
    *length = section.sh_size;
    return (*table)[*length - 1] == '\0';
}

bool rung_cubin_is_elf(const void *bytes, size_t length)
{
    return length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static enum rung_status check_header(struct view *view)
{
    if (!rung_cubin_is_elf(view->bytes, view->length))
        return rung_fail(view->err, RUNG_USAGE, "no ELF file");
    if (view->length < sizeof view->header)
        return broken(view, "the ELF header is cut off");
    memcpy(&view->header, view->bytes, sizeof view->header);
    const Elf64_Ehdr *header = &view->header;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return rung_fail(view->err, RUNG_USAGE, "an ELF file, but not 64-bit little-endian");
    if (header->e_machine != MACHINE_CUDA)
        return rung_fail(view->err, RUNG_USAGE,
                         "an ELF file for machine %u, not for a GPU (machine %d)",
                         header->e_machine, MACHINE_CUDA);
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
        return broken(view, "it has no section table");
    if (!inside(view, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return broken(view, "the section table lies outside the file");
    return RUNG_OK;
}

static enum rung_status check_sections(struct view *view)
{
    for (size_t i = 0; i < view->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(view, i);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
            continue;
        if (!inside(view, section.sh_offset, section.sh_size))
            return broken(view, "a section lies outside the file");
    }
    if (!find_strings(view, view->header.e_shstrndx, &view->names, &view->names_length))
        return broken(view, "it has no section names");
    return RUNG_OK;
}

static enum rung_status check_segments(struct view *view)
{
    const Elf64_Ehdr *header = &view->header;
    if (header->e_phnum == 0) /* relocatable code has none */
        return RUNG_OK;
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(view, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return broken(view, "the program table lies outside the file");
    for (size_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, view->bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        if (!inside(view, segment.p_offset, segment.p_filesz))
            return broken(view, "a segment lies outside the file");
    }
    return RUNG_OK;
}

/* Releases up to 12.9 keep the number in the low byte of the flags, later ones in the second. */
static unsigned read_sm(const Elf64_Ehdr *header)
{
    unsigned shift = header->e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
    return (header->e_flags >> shift) & 0xff;
}

/* The symbol table that a kernel's names come from. */
struct symbols {
    const unsigned char *entries;
    size_t count;
    const char *names;
    size_t names_length;
};

static bool find_symbols(const struct view *view, struct symbols *out)
{
    for (size_t i = 0; i < view->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(view, i);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        out->entries = view->bytes + section.sh_offset;
        out->count = section.sh_size / sizeof(Elf64_Sym);
        return find_strings(view, section.sh_link, &out->names, &out->names_length);
    }
    return false;
}

static Elf64_Sym symbol_at(const struct symbols *symbols, size_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, symbols->entries + index * sizeof symbol, sizeof symbol);
    return symbol;
}

static bool is_entry(const struct view *view, const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & SYMBOL_IS_ENTRY) &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < view->header.e_shnum;
}

/* Counts the entries and numbers their sections, so that each later table finds its kernel by a
 * section index alone, however many there are. */
static size_t number_kernels(struct view *view, const struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        Elf64_Sym symbol = symbol_at(symbols, i);
        if (is_entry(view, &symbol))
            view->kernel_of_section[symbol.st_shndx] = 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < view->header.e_shnum; i++)
        if (view->kernel_of_section[i])
            view->kernel_of_section[i] = ++n;
    return n;
}

static enum rung_status read_code(struct view *view, const struct symbols *symbols,
                                  struct rung_cubin *cubin)
{
    for (size_t i = 0; i < symbols->count; i++) {
        Elf64_Sym symbol = symbol_at(symbols, i);
        if (!is_entry(view, &symbol))
            continue;
        Elf64_Shdr section = section_at(view, symbol.st_shndx);
        if (section.sh_type != SHT_PROGBITS)
            return broken(view, "a kernel has no code");
        struct rung_cubin_kernel *kernel =
            &cubin->kernels[view->kernel_of_section[symbol.st_shndx] - 1];
        kernel->name = string_at(symbols->names, symbols->names_length, symbol.st_name);
        kernel->text = view->bytes + section.sh_offset;
        kernel->text_length = section.sh_size;
    }
    return RUNG_OK;
}

static bool is_routine(const struct view *view, const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && !is_entry(view, symbol) &&
           symbol->st_shndx < view->header.e_shnum && view->kernel_of_section[symbol->st_shndx];
}

static enum rung_status read_routines(struct view *view, const struct symbols *symbols,
                                      struct rung_cubin *cubin)
{
    size_t n = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        Elf64_Sym symbol = symbol_at(symbols, i);
        n += is_routine(view, &symbol);
    }
    cubin->routines = n ? calloc(n, sizeof *cubin->routines) : NULL;
    if (n && !cubin->routines)
        return rung_fail(view->err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; n && i < symbols->count; i++) {
        Elf64_Sym symbol = symbol_at(symbols, i);
        if (!is_routine(view, &symbol))
            continue;
        cubin->routines[cubin->n_routines++] = (struct rung_cubin_routine){
            string_at(symbols->names, symbols->names_length, symbol.st_name),
            view->kernel_of_section[symbol.st_shndx] - 1, symbol.st_value};
    }
    return RUNG_OK;
}

static void read_shared(const struct view *view, struct rung_cubin *cubin)
{
    static const char prefix[] = ".nv.shared.";
    uint64_t reserved = cubin->sm >= RESERVED_FROM_SM ? RESERVED_BYTES : 0;
    for (size_t i = 0; i < view->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(view, i);
        const char *name = string_at(view->names, view->names_length, section.sh_name);
        size_t kernel =
            section.sh_info < view->header.e_shnum ? view->kernel_of_section[section.sh_info] : 0;
        if (kernel == 0 || strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        cubin->kernels[kernel - 1].shared_bytes =
            section.sh_size > reserved ? section.sh_size - reserved : 0;
    }
}

/* `.nv.info` is a list of {format, attribute, 16 bits}, the 16 bits being the value or, for
 * INFO_SIZED, the size of the payload that follows. */
static void read_registers(const struct view *view, const struct symbols *symbols,
                           struct rung_cubin *cubin, const Elf64_Shdr *info)
{
    const unsigned char *at = view->bytes + info->sh_offset;
    size_t left = info->sh_size;
    while (left >= 4) {
        size_t payload = at[0] == INFO_SIZED ? at[2] | (size_t)at[3] << 8 : 0;
        if (payload > left - 4)
            return;
        if (at[0] == INFO_SIZED && at[1] == INFO_REGISTERS && payload >= 8) {
            uint32_t index = word_at(at + 4);
            Elf64_Sym symbol = {0};
            if (index < symbols->count)
                symbol = symbol_at(symbols, index);
            if (is_entry(view, &symbol))
                cubin->kernels[view->kernel_of_section[symbol.st_shndx] - 1].registers =
                    word_at(at + 8);
        }
        at += 4 + payload;
        left -= 4 + payload;
    }
}

static enum rung_status read_kernels(struct view *view, struct rung_cubin *cubin)
{
    struct symbols symbols = {0};
    if (!find_symbols(view, &symbols))
        return broken(view, "it has no symbols");
    view->kernel_of_section = calloc(view->header.e_shnum, sizeof *view->kernel_of_section);
    if (!view->kernel_of_section)
        return rung_fail(view->err, RUNG_MEMORY, "out of memory");
    cubin->n_kernels = number_kernels(view, &symbols);
    if (cubin->n_kernels == 0)
        return RUNG_OK;
    cubin->kernels = calloc(cubin->n_kernels, sizeof *cubin->kernels);
    if (!cubin->kernels)
        return rung_fail(view->err, RUNG_MEMORY, "out of memory");
    enum rung_status status = read_code(view, &symbols, cubin);
    if (status == RUNG_OK)
        status = read_routines(view, &symbols, cubin);
    if (status != RUNG_OK)
        return status;
    read_shared(view, cubin);
    for (size_t i = 0; i < view->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(view, i);
        const char *name = string_at(view->names, view->names_length, section.sh_name);
        if (strcmp(name, ".nv.info") == 0 && section.sh_type != SHT_NOBITS &&
            section.sh_type != SHT_NULL) /* neither has bytes that were checked */
            read_registers(view, &symbols, cubin, &section);
    }
    return RUNG_OK;
}

enum rung_status rung_cubin_read(struct rung_cubin *out, const void *bytes, size_t length,
                                 struct rung_error *err)
{
    *out = (struct rung_cubin){0};
    struct view view = {.bytes = bytes, .length = length, .err = err};
    struct rung_cubin cubin = {0};
    enum rung_status status = check_header(&view);
    if (status == RUNG_OK)
        status = check_sections(&view);
    if (status == RUNG_OK)
        status = check_segments(&view);
    if (status == RUNG_OK) {
        cubin.sm = read_sm(&view.header);
        status = read_kernels(&view, &cubin);
    }
    free(view.kernel_of_section);
    if (status != RUNG_OK) {
        rung_cubin_release(&cubin);
        return status;
    }
    *out = cubin;
    return RUNG_OK;
}

void rung_cubin_release(struct rung_cubin *cubin)
{
    free(cubin->kernels);
    free(cubin->routines);
    *cubin = (struct rung_cubin){0};
}

const struct rung_cubin_kernel *rung_cubin_find(const struct rung_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < cubin->n_kernels; i++)
        if (strcmp(cubin->kernels[i].name, name) == 0)
            return &cubin->kernels[i];
    return NULL;
}
