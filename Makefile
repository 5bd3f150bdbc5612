# samplegate: plain `make` builds, `make check` tests, `make gate` judges the published upgrade; `make help` lists the rest.
# No file is listed by hand: a .c file belongs to the room whose folder it lies in, a test_*.c file is a test. A new folder
# under suite/checks/ is named in JUDGE.

BUILD  ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
REQUIRE ?=

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

# -ffp-contract=off: clang contracts a*b+c by default, which would change tokens between compilers.
WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
DEFINE := -D_GNU_SOURCE -DSAMPLEGATE_SOURCE_DIR='"$(CURDIR)"'
COMMON := -std=c11 -fPIC -ffp-contract=off $(WARN) $(DEFINE) -I.

room = $(filter-out $(foreach d,$(1),$(wildcard $(d)/test_*.c)),$(foreach d,$(1),$(wildcard $(d)/*.c)))
obj  = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

KERNELS  := $(filter-out kernels/loops.c kernels/weight_loops.c kernels/cuda_absent.c kernels/bench_cuda.c kernels/bench_cuda_check.c,$(call room,kernels))
STATS    := $(call room,stats)
PROTOCOL := $(call room,suite/sut/protocol)
HOST     := $(call room,suite/sut/host)
MUTANTS  := $(call room,suite/sut/mutants)
ENGINES  := $(call room,suite/sut/engines)
JUDGE    := $(filter-out suite/cli/main.c,$(call room,suite/json suite/oracle suite/golden suite/judge suite/checks suite/checks/equivalence suite/checks/agreement suite/checks/boundary suite/checks/dependence suite/checks/determinism suite/checks/replay suite/report suite/route suite/cost suite/bench suite/cli))
TOOLS    := $(call room,suite/tools)
TESTS    := $(wildcard kernels/test_*.c stats/test_*.c suite/*/test_*.c suite/*/*/test_*.c)

# One source of inner loops, compiled once per instruction set and chosen at run time.
LOOPS := $(foreach i,baseline avx2 avx512,$(BUILD)/obj/kernels/loops-$(i).o $(BUILD)/obj/kernels/weight_loops-$(i).o)
# Without it gcc lets AVX2's 16 registers overflow (20 % slower); with AVX-512's 32 it does harm. clang has no such flags.
LOOP_SCHED   := $(if $(findstring clang,$(shell $(CC) --version)),,-fschedule-insns -fsched-pressure -fno-tree-reassoc)
ISA_baseline := $(LOOP_SCHED)
ISA_avx2     := -mavx2 -mfma $(LOOP_SCHED)
ISA_avx512   := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma
# Filters with a planted defect, for a test.
LOOP_DEFECTS     := defect_words defect_ties
ISA_defect_words := -DCANDIDATES_WORDS=0
ISA_defect_ties  := -DCANDIDATES_DEFECT_TIES

comma  := ,
GSL    := -lgsl -lgslcblas -lm
CJSON  := -lcjson
CRYPTO := -lcrypto

# CUDA is optional: NVCC, or CUDA_HOME/bin/nvcc, or the one on PATH; NVCC= (empty) builds without.
NVCC ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA       := kernels/cuda.cu kernels/cuda_staged.cu kernels/cuda_device.cu
CUDA_ARCHS := 75 80 90 100
NVCC_FLAGS := -std=c++17 -O2 -fmad=false -I. -Xcompiler -fPIC,-Wall,-Wextra,-ffp-contract=off \
              $(foreach a,$(CUDA_ARCHS),-gencode 'arch=compute_$(a),code=[compute_$(a),sm_$(a)]')
ifneq ($(NVCC),)
CUDA_OBJECTS := $(patsubst %.cu,$(BUILD)/obj/%.nvcc.o,$(CUDA))
CUDA_LIBS     = -L$(patsubst %/bin/,%/lib64,$(dir $(realpath $(shell command -v $(NVCC))))) -lcudart_static -lrt -lstdc++
else
CUDA_OBJECTS := $(BUILD)/obj/kernels/cuda_absent.o
endif

# The same .cu files for the host, through kernels/shim/: for tests, with any C++17 compiler.
SHIM := $(shell command -v $(CXX) 2>/dev/null)
SHIM_FLAGS = -x c++ -std=c++17 -fPIC -ffp-contract=off $(filter-out -Wshadow,$(WARN)) -I.
SHIM_TESTS := kernels/test_shim.c $(wildcard kernels/test_cuda_*.c) suite/sut/host/test_host_cuda.c
TESTS := $(if $(SHIM),$(TESTS),$(filter-out $(SHIM_TESTS),$(TESTS)))

.PHONY: all tests check check-asan gate mutants calibrate golden witness clean help install format
all: $(BUILD)/samplegate $(BUILD)/samplegate-host $(BUILD)/mutants.so $(patsubst suite/tools/%.c,$(BUILD)/%,$(TOOLS)) \
     $(if $(NVCC),$(BUILD)/elementary-host,cuda-not-built) $(if $(SHIM),,shim-not-built)
.PHONY: cuda-not-built shim-not-built
cuda-not-built:
	@echo 'cuda: not built (no nvcc: set NVCC or CUDA_HOME)'

shim-not-built:
	@echo 'cuda through the host shim: not built, its tests neither (no C++ compiler: set CXX)'

$(BUILD)/elementary-host: kernels/elementary_host.cu $(wildcard kernels/*.h)
	@mkdir -p $(@D)
	$(say) NVCC $<
	$(Q)$(NVCC) -std=c++17 -O2 -fmad=false -I. -Xcompiler -Wall,-Wextra,-ffp-contract=off,-mfma -o $@ $<

define loops
	@mkdir -p $(@D)
	$(say) CC '$< ($*)'
	$(Q)$(CC) $(CPPFLAGS) $(COMMON) $(CFLAGS) -O3 $(ISA_$*) -DISA=$* -MMD -MP -c $< -o $@
endef
$(BUILD)/obj/kernels/loops-%.o: kernels/loops.c ; $(loops)
$(BUILD)/obj/kernels/weight_loops-halves-%.o: CPPFLAGS += -DHALVES_UP=0
$(BUILD)/obj/kernels/weight_loops-halves-%.o: kernels/weight_loops.c ; $(loops)
$(BUILD)/obj/kernels/weight_loops-%.o: kernels/weight_loops.c ; $(loops)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(COMMON) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/%.nvcc.o: %.cu
	@mkdir -p $(@D)
	$(say) NVCC $<
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

define shim
	@mkdir -p $(@D)
	$(say) CXX '$< ($(or $(1),host shim))'
	$(Q)$(CXX) $(CPPFLAGS) $(SHIM_FLAGS) $(CFLAGS) $(1) -MMD -MP -c $< -o $@
endef
$(BUILD)/obj/%.shim.o: %.cu ; $(call shim,)
# The kernels with planted defects, one at a time, and the shim's own probes on each kind of fiber switch.
$(BUILD)/obj/%.defects.o: %.cu ; $(call shim,-DCUDA_DEFECTS)
$(BUILD)/obj/kernels/shim/probes.ucontext.o: kernels/shim/probes.cu ; $(call shim,-DSHIM_UCONTEXT)

define archive
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@; $(AR) qcs $@ $^
endef
$(BUILD)/libkernels.a:  $(call obj,$(KERNELS)) $(LOOPS) ; $(archive)
$(BUILD)/libstats.a:    $(call obj,$(STATS))            ; $(archive)
$(BUILD)/libprotocol.a: $(call obj,$(PROTOCOL))         ; $(archive)
$(BUILD)/libengines.a:  $(call obj,$(ENGINES))          ; $(archive)
$(BUILD)/libjudge.a:    $(call obj,$(JUDGE))            ; $(archive)
$(BUILD)/libmutants.a:  $(call obj,$(MUTANTS))          ; $(archive)
$(BUILD)/libcuda-shim.a: $(patsubst %.cu,$(BUILD)/obj/%.shim.o,$(CUDA)) ; $(archive)

# For ci/bench_race.py and ci/bench_select.py, which call it from Python.
$(BUILD)/libkernels.so: $(call obj,$(KERNELS)) $(LOOPS)
	$(call link,-shared -pthread,-lm)

define link
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(1) -o $@ $^ $(LDLIBS) $(2)
endef
$(BUILD)/samplegate: $(call obj,suite/cli/main.c) $(BUILD)/libjudge.a $(BUILD)/libengines.a $(BUILD)/libstats.a $(BUILD)/libprotocol.a $(BUILD)/libkernels.a
	$(call link,-pthread,$(CJSON) $(CRYPTO) $(GSL))
$(BUILD)/samplegate-host: $(call obj,$(HOST)) $(CUDA_OBJECTS) $(BUILD)/libengines.a $(BUILD)/libprotocol.a $(BUILD)/libkernels.a
	$(call link,-pthread,$(CJSON) $(CRYPTO) $(CUDA_LIBS) -ldl -lm)
$(BUILD)/mutants.so: $(call obj,$(MUTANTS)) $(BUILD)/libengines.a $(BUILD)/libkernels.a
	$(call link,-shared -Wl$(comma)--exclude-libs$(comma)ALL,-lm)
$(BUILD)/bench-limit: $(call obj,kernels/bench_limit.c) $(BUILD)/libkernels.a
	$(call link,-pthread,-lm)
$(BUILD)/fault-worker: $(call obj,suite/sut/faults/fault_worker.c) $(BUILD)/libprotocol.a
	$(call link,,$(CJSON))
$(BUILD)/fault-plugin.so: $(call obj,suite/sut/faults/fault_plugin.c)
	$(call link,-shared,)
$(BUILD)/no-symbol.so: $(call obj,suite/sut/faults/no_symbol.c)
	$(call link,-shared,)
$(BUILD)/other-abi.so: $(call obj,suite/sut/faults/other_abi.c)
	$(call link,-shared,)
# Who asks the tables of mutants themselves, and not a worker.
MUTANT_USERS := $(BUILD)/kill_table $(patsubst %.c,$(BUILD)/tests/%,suite/tools/test_kill_table.c suite/checks/test_questions.c $(wildcard suite/sut/mutants/test_*.c))
$(MUTANT_USERS): LDLIBS += $(BUILD)/libmutants.a $(BUILD)/libengines.a $(BUILD)/libkernels.a
$(MUTANT_USERS): $(BUILD)/libmutants.a
$(BUILD)/%: $(BUILD)/obj/suite/tools/%.o $(BUILD)/libjudge.a $(BUILD)/libengines.a $(BUILD)/libstats.a $(BUILD)/libprotocol.a $(BUILD)/libkernels.a
	$(call link,-pthread,$(CJSON) $(CRYPTO) $(GSL))

# Tests see the rooms their own room may use, and no others.
$(BUILD)/tests/kernels/%: $(BUILD)/obj/kernels/%.o $(BUILD)/libkernels.a
	$(call link,-pthread,-lcmocka -lmpfr -lgmp $(CRYPTO) -lm)
$(BUILD)/tests/kernels/test_candidates_defect: $(LOOP_DEFECTS:%=$(BUILD)/obj/kernels/loops-%.o)
SHIM_LINKED := $(patsubst %.c,$(BUILD)/tests/%,$(filter-out kernels/test_cuda_defect.c,$(wildcard kernels/test_cuda_*.c)))
$(SHIM_LINKED): $(BUILD)/libcuda-shim.a
$(SHIM_LINKED): LDLIBS += -lstdc++
$(BUILD)/tests/stats/%: $(BUILD)/obj/stats/%.o $(BUILD)/libstats.a
	$(call link,-pthread,-lcmocka $(GSL))
$(BUILD)/tests/suite/%: $(BUILD)/obj/suite/%.o $(BUILD)/libjudge.a $(BUILD)/libengines.a $(BUILD)/libstats.a $(BUILD)/libprotocol.a $(BUILD)/libkernels.a
	$(call link,-pthread,-lcmocka $(CJSON) $(CRYPTO) $(GSL))

# test_select on selection with a planted defect, which comes before the archive.
$(BUILD)/obj/kernels/select-sum.o: kernels/select.c
	$(Q)$(CC) $(CPPFLAGS) $(COMMON) $(CFLAGS) -DWEIGHT_SUM_ERROR=0 -MMD -MP -c $< -o $@
$(BUILD)/tests/select-defect-sum: $(BUILD)/obj/kernels/test_select.o $(BUILD)/obj/kernels/select-sum.o $(BUILD)/libkernels.a
	$(call link,-pthread,-lcmocka -lm)
$(BUILD)/tests/select-defect-halves: $(BUILD)/obj/kernels/test_select.o $(foreach i,baseline avx2 avx512,$(BUILD)/obj/kernels/weight_loops-halves-$(i).o) $(BUILD)/libkernels.a
	$(call link,-pthread,-lcmocka -lm)
$(BUILD)/tests/kernels/test_select_defect: | $(BUILD)/tests/select-defect-sum $(BUILD)/tests/select-defect-halves

# What these tests start or load must be there, but is not linked in.
FAULTS := $(BUILD)/fault-worker $(BUILD)/fault-plugin.so $(BUILD)/no-symbol.so $(BUILD)/other-abi.so
$(patsubst %.c,$(BUILD)/tests/%,$(wildcard suite/sut/host/test_*.c)): | $(BUILD)/samplegate-host $(FAULTS)
$(BUILD)/tests/suite/sut/host/test_host_cuda: | $(BUILD)/tests/shim-host
$(BUILD)/tests/suite/sut/host/test_host_time $(BUILD)/tests/suite/cli/test_bench: | $(if $(SHIM),$(BUILD)/tests/shim-host)
$(BUILD)/tests/suite/sut/host/test_host_engine: | $(BUILD)/mutants.so
$(BUILD)/tests/suite/sut/faults/test_fault_worker: | $(FAULTS)
$(patsubst %.c,$(BUILD)/tests/%,$(wildcard suite/cli/test_*.c)): | $(BUILD)/samplegate $(BUILD)/samplegate-host $(BUILD)/mutants.so $(FAULTS)

# What only a GPU can show, for ci/gpu.sh; and the same program with the shim in the place of CUDA, to test it.
$(BUILD)/bench-cuda: $(call obj,kernels/bench_cuda.c kernels/bench_cuda_check.c) $(BUILD)/obj/kernels/cuda_graph.nvcc.o $(CUDA_OBJECTS) $(BUILD)/libkernels.a
	$(call link,-pthread,$(CUDA_LIBS) -lm)
$(BUILD)/tests/shim-bench-cuda: $(call obj,kernels/bench_cuda.c kernels/bench_cuda_check.c) $(BUILD)/obj/kernels/cuda_graph.shim.o $(BUILD)/libcuda-shim.a $(BUILD)/libkernels.a
	$(call link,-pthread,-lstdc++ -lm)
# samplegate-host with the shim in the place of CUDA.
$(BUILD)/tests/shim-host: $(call obj,$(HOST)) $(BUILD)/libengines.a $(BUILD)/libprotocol.a $(BUILD)/libcuda-shim.a $(BUILD)/libkernels.a
	$(call link,-pthread,$(CJSON) $(CRYPTO) -lstdc++ -ldl -lm)
$(BUILD)/tests/cuda-defects.so: $(patsubst %.cu,$(BUILD)/obj/%.defects.o,$(CUDA) kernels/cuda_graph.cu)
	$(call link,-shared,-lstdc++ -lm)
$(BUILD)/tests/shim-probes.so: $(BUILD)/obj/kernels/shim/probes.shim.o
	$(call link,-shared,-lstdc++)
$(BUILD)/tests/shim-probes-ucontext.so: $(BUILD)/obj/kernels/shim/probes.ucontext.o
	$(call link,-shared,-lstdc++)
$(BUILD)/tests/kernels/test_cuda_defect: | $(BUILD)/tests/cuda-defects.so
$(BUILD)/tests/kernels/test_shim: | $(BUILD)/tests/shim-probes.so $(BUILD)/tests/shim-probes-ucontext.so

TEST_BINARIES := $(patsubst %.c,$(BUILD)/tests/%,$(TESTS))
tests: $(TEST_BINARIES) $(FAULTS) $(BUILD)/bench-limit $(if $(SHIM),$(BUILD)/tests/shim-bench-cuda)

# Each of these does its own set-up: what is missing is installed (or named), then the rest of the target is built.
check:
	ci/setup.sh check torch
	+$(MAKE) --no-print-directory -j"$$(nproc)" all tests
	ci/check.sh $(BUILD)
check-asan:
	ci/setup.sh check
	ci/check.sh $(BUILD) asan
gate:
	ci/setup.sh build
	+$(MAKE) --no-print-directory -j"$$(nproc)" all
	ci/gate.sh $(BUILD) $(REQUIRE)
# TORCH: a virtual environment with PyPI's PyTorch, or nothing. SECTIONS: some of them, such as published, vllm, select.
bench: all $(BUILD)/libkernels.so $(BUILD)/bench-limit
	ci/bench.sh $(BUILD) "$(TORCH)" $(SECTIONS)
mutants: all
	$(BUILD)/kill_table $(BUILD)
calibrate: all
	$(BUILD)/calibrate $(or $(RUNS),200)
# After a change of the model or of a plan; `git diff golden/` shows what it changed.
golden:
	python3 golden/model/write.py
# Put every golden case of a release to the engine's own wheel (downloads it); `git diff golden/` shows whether it answers as before.
witness:
	ci/witness.sh $(ENGINE)

install: all
	install -D -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/samplegate $(BUILD)/samplegate-host
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include suite/sut/samplegate.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/samplegate/workers $(filter-out suite/sut/workers/test_%,$(wildcard suite/sut/workers/*.py))
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 suite/cli/samplegate.1
	cd golden && find . -name '*.json' -o -name '*.txt' -o -name SHA256SUMS | xargs -I{} install -D -m 644 {} $(DESTDIR)$(PREFIX)/share/samplegate/golden/{}
format:
	clang-format -i $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh')

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-clang

help:
	@echo 'make             build into $(BUILD)/'
	@echo 'make gate        judge the published upgrade in four comparisons (REQUIRE=torch: all four must run)'
	@echo 'make check       build and run every test, with real PyTorch'
	@echo 'make check-asan  unit tests, faults and plan quick under ASan and UBSan'
	@echo 'make bench       measure and write BENCHMARKS.md (TORCH=VENV: with PyPI PyTorch, too; SECTIONS=published: only this)'
	@echo 'make mutants     the kill table: every mutant against the check it was made for'
	@echo 'make calibrate   RUNS=200 end-to-end runs of the clean reference: no false alarms, uniform p-values'
	@echo 'make golden      rewrite the goldens with the independent model'
	@echo 'make witness     ENGINE=sglang-0.5.20: ask the released wheel every golden case, write golden/witness/'
	@echo 'make install     PREFIX=$(PREFIX), DESTDIR'
	@echo 'make format      clang-format;   make clean'
	@echo 'Variables: BUILD=dir  V=1 (show commands)  CC CFLAGS LDFLAGS  NVCC CUDA_HOME'

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
