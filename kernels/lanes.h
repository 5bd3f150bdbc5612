/* lanes.h: the vector operations of the candidate filter for the instruction set that a file is compiled for:
 * AVX-512, AVX2, or any machine (16 bytes; SSE2 where there is one).
 *
 * `lanes` are LANES lanes of 64 bits, each for one Philox block, with a 32-bit word of it in the low half.
 * Intrinsics, because compilers make poor code of a 32 by 32 to 64 bit product and of masks. A `rejects` has
 * one flag for each 32-bit element. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LANES_H
#define SAMPLEGATE_LANES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#    include <immintrin.h>
typedef __m512i lanes;
typedef __m512 lanes_float;
typedef __mmask16 lanes_rejects;
#    define LANES_SET(x) _mm512_set1_epi64((long long)(x))
#    define LANES_LOAD(p) _mm512_loadu_si512(p)
#    define LANES_LOAD_WORDS(p) _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(p)))
#    define LANES_STORE(p, x) _mm512_storeu_si512(p, x)
#    define LANES_MULTIPLY(a, b) _mm512_mul_epu32(a, b)
#    define LANES_HIGH(x) _mm512_srli_epi64(x, 32)
#    define LANES_LOW_UP(x) _mm512_slli_epi64(x, 32)
#    define LANES_XOR(a, b) _mm512_xor_si512(a, b)
#    define LANES_XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#    define LANES_FLOAT_SET(x) _mm512_set1_ps(x)
#    define LANES_FLOAT_LOAD(p) _mm512_loadu_ps(p)
#    define LANES_FLOAT_STORE(p, x) _mm512_storeu_ps(p, x)
#    define LANES_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#    define LANES_SHUFFLE(a, b, order) _mm512_shuffle_ps(a, b, order)
#    define REJECTS_ALL 0xffff
#    define REJECTS_ABOVE(r, x, limit) _mm512_mask_cmpgt_epi32_mask(r, x, limit)
#    define REJECTS_NOT_WITHIN(r, x, limit)                                                                  \
        _mm512_mask_cmp_ps_mask(r, _mm512_cvtepi32_ps(x), limit, _CMP_NLE_UQ)
#    define REJECTS_ARE_ALL(r) ((r) == 0xffff)
#elif defined(__AVX2__)
#    include <immintrin.h>
typedef __m256i lanes;
typedef __m256 lanes_float;
typedef __m256i lanes_rejects;
#    define LANES_SET(x) _mm256_set1_epi64x((long long)(x))
#    define LANES_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#    define LANES_LOAD_WORDS(p) _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(p)))
#    define LANES_STORE(p, x) _mm256_storeu_si256((__m256i *)(p), x)
#    define LANES_MULTIPLY(a, b) _mm256_mul_epu32(a, b)
#    define LANES_HIGH(x) _mm256_srli_epi64(x, 32)
#    define LANES_LOW_UP(x) _mm256_slli_epi64(x, 32)
#    define LANES_XOR(a, b) _mm256_xor_si256(a, b)
#    define LANES_XOR3(a, b, c) LANES_XOR(a, LANES_XOR(b, c))
#    define LANES_FLOAT_SET(x) _mm256_set1_ps(x)
#    define LANES_FLOAT_LOAD(p) _mm256_loadu_ps(p)
#    define LANES_FLOAT_STORE(p, x) _mm256_storeu_ps(p, x)
#    define LANES_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#    define LANES_SHUFFLE(a, b, order) _mm256_shuffle_ps(a, b, order)
#    define REJECTS_ALL _mm256_set1_epi32(-1)
#    define REJECTS_ABOVE(r, x, limit) _mm256_and_si256(r, _mm256_cmpgt_epi32(x, limit))
#    define REJECTS_NOT_WITHIN(r, x, limit)                                                                  \
        _mm256_and_si256(r, _mm256_castps_si256(_mm256_cmp_ps(_mm256_cvtepi32_ps(x), limit, _CMP_NLE_UQ)))
#    define REJECTS_ARE_ALL(r) _mm256_testc_si256(r, _mm256_set1_epi32(-1))
#else
typedef uint64_t lanes __attribute__((vector_size(16)));
typedef uint32_t lanes_words __attribute__((vector_size(16)));
typedef int32_t lanes_integers __attribute__((vector_size(16)));
typedef float lanes_float __attribute__((vector_size(16)));
typedef lanes_integers lanes_rejects;

static inline lanes lanes_load(const void *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

static inline void lanes_store(void *to, lanes x)
{
    memcpy(to, &x, sizeof x);
}

static inline lanes_float lanes_float_load(const float *from)
{
    lanes_float x;
    memcpy(&x, from, sizeof x);
    return x;
}
static inline void lanes_float_store(float *to, lanes_float x)
{
    memcpy(to, &x, sizeof x);
}
#    ifdef __SSE2__
#        include <emmintrin.h>
#        define LANES_MULTIPLY(a, b) ((lanes)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#    else
#        define LANES_MULTIPLY(a, b) (((a)&0xffffffffu) * ((b)&0xffffffffu))
#    endif
#    define LANES_SET(x) ((lanes){(x), (x)})
#    define LANES_LOAD(p) lanes_load(p)
#    define LANES_LOAD_WORDS(p) ((lanes){(p)[0], (p)[1]})
#    define LANES_STORE(p, x) lanes_store(p, x)
#    define LANES_HIGH(x) ((x) >> 32)
#    define LANES_LOW_UP(x) ((x) << 32)
#    define LANES_XOR(a, b) ((a) ^ (b))
#    define LANES_XOR3(a, b, c) ((a) ^ ((b) ^ (c)))
#    define LANES_FLOAT_SET(x) ((lanes_float){(x), (x), (x), (x)})
#    define LANES_FLOAT_LOAD(p) lanes_float_load(p)
#    define LANES_FLOAT_STORE(p, x) lanes_float_store(p, x)
#    define LANES_FMA(a, b, c) ((a) * (b) + (c)) /* rounded twice: the filter's slack allows for it */
#    if defined(__clang__) || __GNUC__ >= 12
#        define LANES_SHUFFLE(a, b, order)                                                                   \
            __builtin_shufflevector(a, b, (order)&3, (order) >> 2 & 3, ((order) >> 4 & 3) + 4,               \
                                    ((order) >> 6 & 3) + 4)
#    else
#        define LANES_SHUFFLE(a, b, order)                                                                   \
            __builtin_shuffle(a, b,                                                                          \
                              (lanes_integers){(order)&3, (order) >> 2 & 3, ((order) >> 4 & 3) + 4,          \
                                               ((order) >> 6 & 3) + 4})
#    endif
#    define REJECTS_ALL ((lanes_integers){-1, -1, -1, -1})
#    define REJECTS_ABOVE(r, x, limit) ((r) & ((lanes_integers)(x) > (lanes_integers)(limit)))
#    define REJECTS_NOT_WITHIN(r, x, limit)                                                                  \
        ((r) & ~(lanes_integers)(__builtin_convertvector((lanes_integers)(x), lanes_float) <= (limit)))
#    define REJECTS_ARE_ALL(r) ((((lanes)(r))[0] & ((lanes)(r))[1]) == UINT64_MAX)
#endif

#define LANES (sizeof(lanes) / sizeof(uint64_t))
#endif
