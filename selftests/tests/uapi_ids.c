// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids: private to one open file description, shared by all who hold it, gone
 * with its last descriptor, not used twice in a row, and limited in number. And
 * who may open the node at all.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

#define NOBODY 65534

FIXTURE(ids) {
	struct world w;
};

FIXTURE_SETUP(ids)
{
	ASSERT_EQ(0, world_open(&self->w));
}

FIXTURE_TEARDOWN(ids)
{
	world_close(&self->w);
}

static int64_t new_buffer(struct world *w)
{
	return pd_buffer(w->pd, w->dmabuf, 0, 0, 0, NULL);
}

/* Both ids as one answer: 0 if they name what they should. */
static int ask(int pd, uint32_t buffer, uint32_t file)
{
	struct pdio_route route;

	return pd_route(pd, buffer, file, PDIO_OP_READ, &route);
}

static int attached(struct world *w)
{
	struct fakegpu_stat stat;
	int ret = gpu_stat(w->gpu, w->handle, &stat);

	return ret ? ret : (int)stat.attached;
}

/* Exit status of a child, or -1 if it died. */
static int child_status(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(ids, never_zero)
{
	EXPECT_NE(0, self->w.buffer);
	EXPECT_NE(0, self->w.file);
	EXPECT_NE(self->w.buffer, self->w.file);
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
}

TEST_F(ids, private_to_description)
{
	int other = pd_open();
	int64_t file;
	uint32_t id;

	ASSERT_LE(0, other);
	for (id = 0; id < 64; id++)
		EXPECT_EQ(-ENOENT, pd_destroy(other, id));
	/* The first file there and the first buffer here don't meet. */
	file = pd_file(other, self->w.disk, NULL);
	ASSERT_LT(0, file);
	EXPECT_EQ(-ENOENT, ask(other, self->w.buffer, file));
	EXPECT_EQ(-ENOENT, pd_buffer(other, self->w.dmabuf, 0, 0, file + 1,
				     NULL));
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
	close(other);
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
}

TEST_F(ids, shared_by_dup)
{
	int copy = dup(self->w.pd);

	ASSERT_LE(0, copy);
	close(self->w.pd);
	EXPECT_EQ(0, ask(copy, self->w.buffer, self->w.file));
	self->w.pd = copy;
}

/* A descriptor that leads to the same node is not the same description. */
TEST_F(ids, not_shared_by_reopening)
{
	char path[32];
	int other;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->w.pd);
	other = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, other);
	EXPECT_EQ(-ENOENT, ask(other, self->w.buffer, self->w.file));
	close(other);
}

TEST_F(ids, shared_by_fork)
{
	int64_t mine = new_buffer(&self->w);
	int pipes[2];
	int64_t id;
	pid_t child;

	ASSERT_LT(0, mine);
	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (ask(self->w.pd, self->w.buffer, self->w.file) ||
		    pd_destroy(self->w.pd, mine))
			_exit(1);
		id = new_buffer(&self->w);
		_exit(write(pipes[1], &id, sizeof(id)) != sizeof(id));
	}
	ASSERT_EQ(sizeof(id), read(pipes[0], &id, sizeof(id)));
	EXPECT_EQ(0, child_status(child));
	/* What the child did holds, and its end ends nothing. */
	EXPECT_EQ(-ENOENT, pd_destroy(self->w.pd, mine));
	EXPECT_EQ(0, ask(self->w.pd, id, self->w.file));
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
	close(pipes[0]);
	close(pipes[1]);
}

struct letter {
	uint32_t buffer;
	uint32_t file;
};

union letter_control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void letter_message(struct msghdr *message, struct iovec *iov,
			   struct letter *letter, union letter_control *control)
{
	memset(message, 0, sizeof(*message));
	memset(control, 0, sizeof(*control));
	iov->iov_base = letter;
	iov->iov_len = sizeof(*letter);
	message->msg_iov = iov;
	message->msg_iovlen = 1;
	message->msg_control = control->bytes;
	message->msg_controllen = sizeof(control->bytes);
}

static int letter_send(int to, struct letter *letter, int fd)
{
	union letter_control control;
	struct msghdr message;
	struct cmsghdr *cmsg;
	struct iovec iov;

	letter_message(&message, &iov, letter, &control);
	cmsg = CMSG_FIRSTHDR(&message);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(to, &message, 0) == sizeof(*letter) ? 0 : -errno;
}

/* The descriptor, or -errno. */
static int letter_receive(int from, struct letter *letter)
{
	union letter_control control;
	struct msghdr message;
	struct cmsghdr *cmsg;
	struct iovec iov;
	int fd;

	letter_message(&message, &iov, letter, &control);
	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof(*letter))
		return -errno;
	cmsg = CMSG_FIRSTHDR(&message);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -EBADF;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

/* The sender is gone, with all it had, before the receiver looks. */
TEST_F(ids, shared_by_message)
{
	struct letter letter = {};
	int ends[2], pd;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		self->w.pd = pd_open();
		if (self->w.pd < 0 || world_register(&self->w))
			_exit(1);
		letter.buffer = self->w.buffer;
		letter.file = self->w.file;
		_exit(letter_send(ends[1], &letter, self->w.pd) ? 2 : 0);
	}
	EXPECT_EQ(0, child_status(child));
	pd = letter_receive(ends[0], &letter);
	ASSERT_LE(0, pd);
	EXPECT_EQ(0, ask(pd, letter.buffer, letter.file));
	EXPECT_EQ(0, pd_destroy(pd, letter.buffer));
	EXPECT_EQ(-ENOENT, ask(pd, letter.buffer, letter.file));
	close(pd);
	close(ends[0]);
	close(ends[1]);
}

/* A message that nobody reads keeps the objects; its end is theirs. */
TEST_F(ids, kept_by_message_in_flight)
{
	int before = attached(&self->w), ends[2], pd;
	struct letter letter = {};

	ASSERT_LE(0, before);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	pd = self->w.pd;
	ASSERT_EQ(0, letter_send(ends[1], &letter, pd));
	close(pd);
	EXPECT_EQ(before, attached(&self->w));
	self->w.pd = letter_receive(ends[0], &letter);
	ASSERT_LE(0, self->w.pd);
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
	close(ends[0]);
	close(ends[1]);
}

/* Whoever closes the last descriptor finds the memory free. */
TEST_F(ids, end_with_last_descriptor)
{
	struct fakegpu_stat stat;
	int copy = dup(self->w.pd);

	ASSERT_LE(0, copy);
	ASSERT_EQ(0, gpu_stat(self->w.gpu, self->w.handle, &stat));
	if (test_bed_is(WORLD_DIRECT_BEDS))
		EXPECT_EQ(1, stat.mapped);
	close(self->w.pd);
	EXPECT_EQ((int)stat.attached, attached(&self->w));
	close(copy);
	ASSERT_EQ(0, gpu_stat(self->w.gpu, self->w.handle, &stat));
	EXPECT_EQ(0, stat.attached);
	EXPECT_EQ(0, stat.pinned);
	EXPECT_EQ(0, stat.mapped);
	self->w.pd = -1;
}

/* Starts a program that lives until @release; 0 once the old one is gone. */
static int exec_in_child(int release, int keep, pid_t *child)
{
	char name[16], end;
	int sync[2];

	if (pipe2(sync, O_CLOEXEC))
		return -errno;
	*child = fork();
	if (!*child) {
		dup2(release, 0);
		snprintf(name, sizeof(name), "/dev/fd/%d", keep);
		execlp("sh", "sh", "-c", "read line; test -e \"$0\"", name,
		       NULL);
		_exit(127);
	}
	close(sync[1]);
	/* Ends when exec closes the other end. */
	if (*child < 0 || read(sync[0], &end, 1))
		return -EIO;
	close(sync[0]);
	return 0;
}

TEST_F(ids, close_on_exec)
{
	int release[2], copy;
	pid_t child;

	EXPECT_EQ(FD_CLOEXEC, fcntl(self->w.pd, F_GETFD));
	ASSERT_EQ(0, pipe2(release, O_CLOEXEC));
	ASSERT_EQ(0, exec_in_child(release[0], self->w.pd, &child));
	/* The program that runs now has nothing of it. */
	close(self->w.pd);
	EXPECT_EQ(0, attached(&self->w));
	close(release[1]);
	EXPECT_EQ(1, child_status(child));
	close(release[0]);

	/* Without the flag it has. */
	self->w.pd = pd_open();
	ASSERT_LE(0, self->w.pd);
	ASSERT_EQ(0, world_register(&self->w));
	ASSERT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
	copy = attached(&self->w);
	ASSERT_EQ(0, fcntl(self->w.pd, F_SETFD, 0));
	ASSERT_EQ(0, pipe2(release, O_CLOEXEC));
	ASSERT_EQ(0, exec_in_child(release[0], self->w.pd, &child));
	close(self->w.pd);
	EXPECT_EQ(copy, attached(&self->w));
	close(release[1]);
	EXPECT_EQ(0, child_status(child));
	EXPECT_EQ(0, attached(&self->w));
	close(release[0]);
	self->w.pd = -1;
}

/* A stale id names nothing, rather than the next object. */
TEST_F_TIMEOUT(ids, not_used_again_at_once, 120)
{
	int64_t first = new_buffer(&self->w), id, last = 0;
	int i;

	ASSERT_LT(0, first);
	for (i = 0; i < 300; i++) {
		id = i % 2 ? new_buffer(&self->w) :
			     pd_file(self->w.pd, self->w.disk, NULL);
		ASSERT_LT(last, id);
		ASSERT_NE(first, id);
		ASSERT_EQ(0, pd_destroy(self->w.pd, id));
		last = id;
	}
	for (id = first + 1; id <= last; id++)
		ASSERT_EQ(-ENOENT, pd_destroy(self->w.pd, id));
	EXPECT_EQ(0, pd_destroy(self->w.pd, first));
}

/* The same memory and the same file, any number of times, each by itself. */
TEST_F(ids, same_thing_twice)
{
	int64_t buffer = new_buffer(&self->w);
	int64_t file = pd_file(self->w.pd, self->w.disk, NULL);

	ASSERT_LT(0, buffer);
	ASSERT_LT(0, file);
	EXPECT_NE(self->w.buffer, buffer);
	EXPECT_NE(self->w.file, file);
	EXPECT_EQ(0, pd_destroy(self->w.pd, self->w.buffer));
	EXPECT_EQ(0, pd_destroy(self->w.pd, self->w.file));
	EXPECT_EQ(0, ask(self->w.pd, buffer, file));
	EXPECT_EQ(-ENOENT, ask(self->w.pd, self->w.buffer, file));
	EXPECT_EQ(-ENOENT, ask(self->w.pd, buffer, self->w.file));
}

#define MOUNT "/tmp/uapi_ids"

/* The only descriptor of a file, on a file system of its own; or -errno. */
static int file_of_its_own(void)
{
	int fd;

	mkdir(MOUNT, 0700);
	if (mount("ids", MOUNT, "tmpfs", 0, NULL))
		return -errno;
	fd = open(MOUNT "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* When DESTROY returns, the file is closed: nothing keeps its file system. */
TEST_F_TIMEOUT(ids, file_closed_by_destroy, 120)
{
	int i, fd, error = 0;
	int64_t id;

	for (i = 0; i < 20 && !error; i++) {
		fd = file_of_its_own();
		ASSERT_LE(0, fd);
		id = pd_file(self->w.pd, fd, NULL);
		ASSERT_LT(0, id);
		close(fd);
		EXPECT_EQ(-1, umount(MOUNT)) TH_LOG("nobody has it open");
		EXPECT_EQ(0, pd_destroy(self->w.pd, id));
		error = umount(MOUNT) ? errno : 0;
		EXPECT_EQ(0, error) TH_LOG("after %d times", i);
	}
	if (error)
		umount2(MOUNT, MNT_DETACH);
}

/* And so it is when the last descriptor of the node is closed. */
TEST_F_TIMEOUT(ids, file_closed_by_close, 120)
{
	int i, fd, pd, error = 0;

	for (i = 0; i < 20 && !error; i++) {
		pd = pd_open();
		ASSERT_LE(0, pd);
		fd = file_of_its_own();
		ASSERT_LE(0, fd);
		ASSERT_LT(0, pd_file(pd, fd, NULL));
		close(fd);
		close(pd);
		error = umount(MOUNT) ? errno : 0;
		EXPECT_EQ(0, error) TH_LOG("after %d times", i);
	}
	if (error)
		umount2(MOUNT, MNT_DETACH);
}

static uint64_t gpu_free_bytes(int gpu)
{
	struct fakegpu_info info;

	return gpu_info(gpu, &info) ? 0 : info.free;
}

/* Whoever ends the last use of device memory can allocate it again. */
TEST_F_TIMEOUT(ids, memory_free_after_destroy, 120)
{
	uint64_t before = gpu_free_bytes(self->w.gpu);
	int64_t handle, id;
	int i, fd;

	for (i = 0; i < 20; i++) {
		handle = gpu_alloc(self->w.gpu, WORLD_BYTES, FAKEGPU_STATIC, 0,
				   0);
		ASSERT_LT(0, handle);
		fd = gpu_export(self->w.gpu, handle, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fd);
		id = pd_buffer(self->w.pd, fd, 0, 0, self->w.file, NULL);
		ASSERT_LT(0, id);
		close(fd);
		ASSERT_EQ(0, gpu_free(self->w.gpu, handle));
		EXPECT_EQ(before - WORLD_BYTES, gpu_free_bytes(self->w.gpu));
		EXPECT_EQ(0, pd_destroy(self->w.pd, id));
		ASSERT_EQ(before, gpu_free_bytes(self->w.gpu))
			TH_LOG("after %d times", i);
	}
}

#define THREADS 4
#define THREAD_IDS 200

struct maker {
	struct world *w;
	pthread_t thread;
	int64_t id[THREAD_IDS];
};

static void *maker_run(void *arg)
{
	struct maker *maker = arg;
	int i;

	for (i = 0; i < THREAD_IDS; i++)
		maker->id[i] = new_buffer(maker->w);
	return NULL;
}

/* Each id was given once: each can be taken away once. */
TEST_F(ids, made_by_many_threads)
{
	struct maker *maker = calloc(THREADS, sizeof(*maker));
	int t, i;

	ASSERT_TRUE(!!maker);
	for (t = 0; t < THREADS; t++) {
		maker[t].w = &self->w;
		ASSERT_EQ(0, pthread_create(&maker[t].thread, NULL, maker_run,
					    &maker[t]));
	}
	for (t = 0; t < THREADS; t++)
		ASSERT_EQ(0, pthread_join(maker[t].thread, NULL));
	for (t = 0; t < THREADS; t++) {
		for (i = 0; i < THREAD_IDS; i++) {
			ASSERT_LT(0, maker[t].id[i]);
			ASSERT_EQ(0, pd_destroy(self->w.pd, maker[t].id[i]));
		}
	}
	free(maker);
}

TEST_F_TIMEOUT(ids, limit, 600)
{
	struct pdio_info info;
	int64_t id, last = 0;
	uint32_t nr;
	int other;

	if (!strcmp(test_kernel(), "debug") && !test_long())
		SKIP(return, "as many objects as fit take long on this kernel");
	ASSERT_EQ(0, pd_info(self->w.pd, &info));
	/* The world's two are among them. */
	for (nr = 2; nr < info.out_max_objects; nr++) {
		id = new_buffer(&self->w);
		ASSERT_LT(last, id);
		last = id;
	}
	EXPECT_EQ(-ENOSPC, new_buffer(&self->w));
	EXPECT_EQ(-ENOSPC, pd_file(self->w.pd, self->w.disk, NULL));
	EXPECT_EQ(0, ask(self->w.pd, self->w.buffer, self->w.file));
	/* One goes, one comes. */
	EXPECT_EQ(0, pd_destroy(self->w.pd, last));
	EXPECT_LT(last, pd_file(self->w.pd, self->w.disk, NULL));
	EXPECT_EQ(-ENOSPC, new_buffer(&self->w));
	/* The limit is this description's. */
	other = pd_open();
	ASSERT_LE(0, other);
	EXPECT_LT(0, pd_file(other, self->w.disk, NULL));
	close(other);
}

TEST(permission)
{
	struct stat stat_;
	pid_t child;

	ASSERT_EQ(0, stat("/dev/pdio", &stat_));
	EXPECT_TRUE(S_ISCHR(stat_.st_mode));
	EXPECT_EQ(0660, stat_.st_mode & 07777);
	EXPECT_EQ(0, stat_.st_uid);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		_exit(pd_open() == -EACCES ? 0 : 2);
	}
	EXPECT_EQ(0, child_status(child));
}

TEST_HARNESS_MAIN
