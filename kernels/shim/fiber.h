/* fiber.h: a stack of its own for each thread of a block, and the switch between two of them.
 *
 * On x86-64 a switch is a dozen instructions (swapcontext makes a system call); elsewhere, or with
 * SHIM_UCONTEXT, it is ucontext. AddressSanitizer is told of each switch. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_FIBER_H
#define SAMPLEGATE_SHIM_FIBER_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__) && !defined(SHIM_UCONTEXT)
#    define SHIM_FAST_SWITCH
#else
#    include <ucontext.h>
#endif

#ifdef __has_feature
#    if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#        define __SANITIZE_ADDRESS__ 1
#    endif
#endif
#ifdef __SANITIZE_ADDRESS__
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#    define FIBER_STACK_BYTES ((size_t)256 << 10)
#    define FIBER_UNPOISON(start, bytes) ASAN_UNPOISON_MEMORY_REGION(start, bytes)
#    define FIBER_POISON(start, bytes) ASAN_POISON_MEMORY_REGION(start, bytes)
#    define FIBER_UNCHECKED __attribute__((no_sanitize_address))
#else
#    define FIBER_STACK_BYTES ((size_t)64 << 10)
#    define FIBER_UNPOISON(start, bytes) ((void)0)
#    define FIBER_POISON(start, bytes) ((void)0)
#    define FIBER_UNCHECKED
#endif

struct fiber {
#ifdef SHIM_FAST_SWITCH
    void *top; /* where its registers are saved, while it does not run */
#else
    ucontext_t context;
#endif
    void *stack; /* of the process's own stack, only AddressSanitizer knows: NULL */
    size_t bytes;
    void *fake_stack; /* AddressSanitizer's */
};

#ifdef SHIM_FAST_SWITCH
#    ifdef __clang__
#        define FIBER_OPAQUE __attribute__((naked, noinline))
#    else
#        define FIBER_OPAQUE __attribute__((naked, noinline, noipa))
#    endif
/* Saves what a callee must preserve on the stack that is left, and takes it from the one that is entered. */
FIBER_OPAQUE FIBER_UNCHECKED inline void fiber_exchange([[maybe_unused]] void **from,
                                                        [[maybe_unused]] void *to)
{
    __asm__ volatile("pushq %rbp\n\t"
                     "pushq %rbx\n\t"
                     "pushq %r12\n\t"
                     "pushq %r13\n\t"
                     "pushq %r14\n\t"
                     "pushq %r15\n\t"
                     "movq %rsp, (%rdi)\n\t"
                     "movq %rsi, %rsp\n\t"
                     "popq %r15\n\t"
                     "popq %r14\n\t"
                     "popq %r13\n\t"
                     "popq %r12\n\t"
                     "popq %rbx\n\t"
                     "popq %rbp\n\t"
                     "ret");
}
#endif

/* Leave `from`, continue `to`. A fiber that ends never comes back. */
FIBER_UNCHECKED inline void fiber_switch(struct fiber *from, struct fiber *to, bool ends)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(ends ? nullptr : &from->fake_stack, to->stack, to->bytes);
#else
    (void)ends;
#endif
#ifdef SHIM_FAST_SWITCH
    fiber_exchange(&from->top, to->top);
#else
    swapcontext(&from->context, &to->context);
#endif
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

/* The first thing a fiber does: `caller` is where it was started from. */
FIBER_UNCHECKED inline void fiber_entered(struct fiber *caller)
{
#ifdef __SANITIZE_ADDRESS__
    const void *stack;
    __sanitizer_finish_switch_fiber(nullptr, &stack, &caller->bytes);
    caller->stack = const_cast<void *>(stack);
#else
    (void)caller;
#endif
}

/* Make the fiber start in `entry`, which must not return, at the next switch to it. */
inline void fiber_prepare(struct fiber *fiber, void (*entry)())
{
    if (!fiber->stack) {
        fiber->stack = malloc(FIBER_STACK_BYTES);
        if (!fiber->stack)
            abort();
        fiber->bytes = FIBER_STACK_BYTES;
    }
#ifdef SHIM_FAST_SWITCH
    uintptr_t *const end = (uintptr_t *)(((uintptr_t)fiber->stack + fiber->bytes) & ~(uintptr_t)15);
    end[-1] = 0; /* where entry would return to */
    end[-2] = (uintptr_t)entry;
    for (int saved = 3; saved <= 8; saved++)
        end[-saved] = 0;
    fiber->top = end - 8;
#else
    if (getcontext(&fiber->context))
        abort();
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->bytes;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, entry, 0);
#endif
}
#endif
