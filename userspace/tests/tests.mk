# SPDX-License-Identifier: GPL-2.0-or-later
# make check: unit tests of library and tool, with the sanitizers, against a
# kernel that is linked in.

T := $(O)/tests
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
WRAP := -Wl,--wrap=open64,--wrap=ioctl,--wrap=readlink,--wrap=opendir
TEST_CPP := $(CPP) -I$(SRC)/tests -I$(TOP)/selftests/modules -pthread

FAKE := fake_kernel fake_pdio fake_devices
CHECK_LIB := $(LIB_NAMES:%=$(T)/lib/%.o)
CHECK_TOOL := $(TOOL_NAMES:%=$(T)/tool/%.o)
CHECK_FAKE := $(FAKE:%=$(T)/%.o)

$(T)/lib/%.o: $(SRC)/lib/%.c $(STAMP)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(WARNINGS) $(LIB_CPP) -c -o $@ $<

$(T)/tool/%.o: $(SRC)/tool/%.c $(STAMP)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(WARNINGS) $(TOOL_CPP) -c -o $@ $<

$(T)/%.o: $(SRC)/tests/%.c $(STAMP)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(WARNINGS) $(TEST_CPP) -c -o $@ $<

$(T)/lib_test $(T)/accel_test: $(T)/%: $(T)/%.o $(T)/unit.o $(CHECK_FAKE) \
		$(CHECK_LIB)
	$(CC) $(SANITIZE) -pthread $(WRAP) -o $@ $^

# The tool, with the kernel inside.
$(T)/pdio: $(CHECK_TOOL) $(CHECK_FAKE) $(CHECK_LIB)
	$(CC) $(SANITIZE) -pthread $(WRAP) -o $@ $^ $(JSON_LIBS)

.PHONY: check
check: all $(T)/lib_test $(T)/accel_test $(T)/pdio
	@O=$(O) CC="$(CC)" CXX="$(CXX)" MAKE="$(MAKE)" $(SRC)/tests/run.sh

-include $(CHECK_LIB:.o=.d) $(CHECK_TOOL:.o=.d) $(wildcard $(T)/*.d)
