/* Writing a folder of images (image/folder.h reads it): sources, PTX, cubins and their MANIFEST.
 * A folder may be added to. The manifest is written last and whole, so that what a killed writer
 * left is not believed. */
#ifndef RUNG_IMAGE_WRITER_H
#define RUNG_IMAGE_WRITER_H

#include "image/image.h"

struct rung_image_writer;

/* Makes the folder if it is not there, and reads the manifest of one that is. Waits while another
 * process writes to it. */
enum rung_status rung_image_writer_open(struct rung_image_writer **out, const char *folder,
                                        struct rung_error *err);

/* Writes cu/<symbol>.cu, and the image into the folder of its PTX's target; a file that holds the
 * same bytes already is left alone. An image of another target that was made from another source of
 * the same symbol is struck from the manifest. */
enum rung_status rung_image_writer_put(struct rung_image_writer *writer, const char *symbol,
                                       const struct rung_image *image, struct rung_error *err);

/* Writes the manifest, `comment` (one line) at its top. */
enum rung_status rung_image_writer_finish(struct rung_image_writer *writer, const char *comment,
                                          struct rung_error *err);
void rung_image_writer_close(struct rung_image_writer *writer);

#endif
