"""philox.py: Philox4x32-10 in plain integers, from Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as
1, 2, 3" (SC11), and the counter layout that says which word belongs to which (seed, position, column).

key = (seed low, seed high); counter = (column // 4, stream, position low, position high); word = output[column % 4].
"""
RACE_STREAM, CATEGORICAL_STREAM, TABLE_STREAM = 0, 1, 2
WORD = 0xFFFFFFFF


def philox4x32(counter, key):
    """The four output words of Philox4x32-10."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        product0 = 0xD2511F53 * c0
        product1 = 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (product1 >> 32) ^ c1 ^ k0, product1 & WORD, (product0 >> 32) ^ c3 ^ k1, product0 & WORD
        k0 = (k0 + 0x9E3779B9) & WORD
        k1 = (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def words(seed, position, count, stream):
    """The words of columns 0 .. count - 1 for a 64-bit seed and position."""
    key = (seed & WORD, seed >> 32)
    low, high = position & WORD, position >> 32
    out = []
    for block in range((count + 3) // 4):
        out += philox4x32((block, stream, low, high), key)
    return out[:count]
