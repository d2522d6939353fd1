/* Small PTX modules for the tests of the simulated driver, written by hand. */
#ifndef RUNG_TESTS_SUPPORT_KERNELS_H
#define RUNG_TESTS_SUPPORT_KERNELS_H

#define PTX_HEAD ".version 6.3\n.target sm_75\n.address_size 64\n"

/* fill(out, value): out[global thread] = value + the thread's number */
#define PTX_FILL                                                                                   \
    PTX_HEAD ".visible .entry fill(.param .u64 out, .param .u32 value)\n"                          \
             "{\n"                                                                                 \
             ".reg .b32 %r<6>;\n"                                                                  \
             ".reg .b64 %rd<4>;\n"                                                                 \
             "ld.param.u64 %rd1, [out];\n"                                                         \
             "ld.param.u32 %r1, [value];\n"                                                        \
             "cvta.to.global.u64 %rd2, %rd1;\n"                                                    \
             "mov.u32 %r2, %ctaid.x;\n"                                                            \
             "mov.u32 %r3, %ntid.x;\n"                                                             \
             "mov.u32 %r4, %tid.x;\n"                                                              \
             "mad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                    \
             "mul.wide.u32 %rd3, %r5, 4;\n"                                                        \
             "add.s64 %rd2, %rd2, %rd3;\n"                                                         \
             "add.s32 %r1, %r1, %r5;\n"                                                            \
             "st.global.u32 [%rd2], %r1;\n"                                                        \
             "ret;\n"                                                                              \
             "}\n"

/* poke(address): stores 1 there, whatever is there */
#define PTX_POKE                                                                                   \
    PTX_HEAD ".visible .entry poke(.param .u64 address)\n"                                         \
             "{\n"                                                                                 \
             ".reg .b32 %r<2>;\n"                                                                  \
             ".reg .b64 %rd<3>;\n"                                                                 \
             "ld.param.u64 %rd1, [address];\n"                                                     \
             "cvta.to.global.u64 %rd2, %rd1;\n"                                                    \
             "mov.u32 %r1, 1;\n"                                                                   \
             "st.global.u32 [%rd2], %r1;\n"                                                        \
             "ret;\n"                                                                              \
             "}\n"

/* spin(): never ends */
#define PTX_SPIN                                                                                   \
    PTX_HEAD ".visible .entry spin()\n"                                                            \
             "{\n"                                                                                 \
             "again:\n"                                                                            \
             "bra.uni again;\n"                                                                    \
             "}\n"

/* tile(): 1,024 bytes of shared memory, at most 256 threads */
#define PTX_TILE                                                                                   \
    PTX_HEAD ".visible .entry tile()\n"                                                            \
             ".maxntid 256, 1, 1\n"                                                                \
             "{\n"                                                                                 \
             ".reg .b32 %r<4>;\n"                                                                  \
             ".shared .align 4 .b8 buffer[1024];\n"                                                \
             "mov.u32 %r1, %tid.x;\n"                                                              \
             "shl.b32 %r2, %r1, 2;\n"                                                              \
             "mov.u32 %r3, buffer;\n"                                                              \
             "add.s32 %r3, %r3, %r2;\n"                                                            \
             "st.shared.u32 [%r3], %r1;\n"                                                         \
             "ret;\n"                                                                              \
             "}\n"

/* turn(): thread t reads what thread t + 1 wrote, with a barrier between (sync) or without */
#define PTX_TURN(sync)                                                                             \
    PTX_HEAD ".visible .entry turn()\n"                                                            \
             "{\n"                                                                                 \
             ".reg .b32 %r<6>;\n"                                                                  \
             ".shared .align 4 .b8 buffer[1028];\n"                                                \
             "mov.u32 %r1, %tid.x;\n"                                                              \
             "shl.b32 %r2, %r1, 2;\n"                                                              \
             "mov.u32 %r3, buffer;\n"                                                              \
             "add.s32 %r3, %r3, %r2;\n"                                                            \
             "st.shared.u32 [%r3], %r1;\n" sync "ld.shared.u32 %r4, [%r3+4];\n"                    \
             "add.s32 %r5, %r4, %r4;\n"                                                            \
             "ret;\n"                                                                              \
             "}\n"

/* part(): only threads below 40 come to the barrier */
#define PTX_PART                                                                                   \
    PTX_HEAD ".visible .entry part()\n"                                                            \
             "{\n"                                                                                 \
             ".reg .pred %p<2>;\n"                                                                 \
             ".reg .b32 %r<2>;\n"                                                                  \
             "mov.u32 %r1, %tid.x;\n"                                                              \
             "setp.gt.u32 %p1, %r1, 39;\n"                                                         \
             "@%p1 bra past;\n"                                                                    \
             "bar.sync 0;\n"                                                                       \
             "past:\n"                                                                             \
             "add.s32 %r1, %r1, %r1;\n"                                                            \
             "ret;\n"                                                                              \
             "}\n"

/* stop(): traps */
#define PTX_STOP PTX_HEAD ".visible .entry stop()\n{\ntrap;\nret;\n}\n"

#endif
