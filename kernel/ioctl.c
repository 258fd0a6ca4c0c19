// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/pdio: checks what callers pass, calls down, formats what comes up.
 *
 * The structures grow as uapi/linux/pdio.h promises: a table tells for each
 * command how long its structure is here and how long it was at first, and the
 * dispatcher copies in and out accordingly. An object that a command makes gets
 * its id before the answer is copied out and becomes visible after, so that a
 * caller whose answer got lost has lost nothing else.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "pdio.h"

/**
 * struct ioctl_call - a command in work
 * @ctx: the open file description
 * @arg: its structure, zeroed beyond what the caller passed
 * @object: what it made, to be finalised or aborted
 */
struct ioctl_call {
	struct pdio_ctx *ctx;
	void *arg;
	struct pdio_object *object;
};

/**
 * enum ioctl_answer - when a command's out members are written
 * @ANSWER_NEVER: it has none
 * @ANSWER_SUCCESS: when it succeeded
 * @ANSWER_ALWAYS: on failure too
 * @ANSWER_PROBED: on failure too, and the structure is tried before anything
 *	happens that an answer which can't be delivered would hide
 */
enum ioctl_answer {
	ANSWER_NEVER,
	ANSWER_SUCCESS,
	ANSWER_ALWAYS,
	ANSWER_PROBED,
};

/**
 * struct ioctl_op - a command
 * @size: of its structure
 * @min_size: of its structure when it was first published
 * @answer: when its out members are written
 * @execute: serves it; 0 or a negative errno
 */
struct ioctl_op {
	size_t size;
	size_t min_size;
	enum ioctl_answer answer;
	int (*execute)(struct ioctl_call *call);
};

static int ioctl_info(struct ioctl_call *call)
{
	struct pdio_info *info = call->arg;
	struct pdio_stats sum;

	if (info->flags)
		return -EOPNOTSUPP;
	if (info->__reserved)
		return -EINVAL;
	pdio_stats_sum(call->ctx->stats, &sum);
	info->out_reason = pdio_route_kernel_reason();
	info->out_features = info->out_reason ? 0 : PDIO_FEATURE_DIRECT;
	info->out_max_segments = PDIO_MAX_SEGMENTS;
	info->out_max_objects = PDIO_MAX_OBJECTS;
	info->out_ops = sum.ops;
	info->out_bytes_direct = sum.direct;
	info->out_bytes_staged = sum.staged;
	info->out_bytes_cpu = sum.cpu;
	return 0;
}

/* With a file as hint: what would go wrong at the first request does so now. */
static int ioctl_buffer_pair(struct ioctl_call *call,
			     struct pdio_buffer *buffer, u32 file_id,
			     u32 *reason)
{
	struct pdio_route_info route;
	struct pdio_attach *attach;
	struct pdio_file *file;
	int ret = 0;

	file = pdio_file_get(call->ctx, file_id);
	if (IS_ERR(file))
		return PTR_ERR(file);
	attach = pdio_route_get(buffer, file, &route);
	if (!IS_ERR(attach))
		pdio_attach_put(attach);
	else if (PTR_ERR(attach) != -EXDEV)
		ret = PTR_ERR(attach);
	*reason = route.reason;
	pdio_object_put(&file->object);
	return ret;
}

static int ioctl_buffer_register(struct ioctl_call *call)
{
	struct pdio_buffer_register *reg = call->arg;
	struct pdio_buffer *buffer;
	int ret;

	reg->out_id = 0;
	reg->out_reason = PDIO_REASON_NONE;
	reg->out_length = 0;
	if (reg->flags)
		return -EOPNOTSUPP;
	buffer = pdio_buffer_create(reg->dmabuf_fd, reg->offset, reg->length);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	ret = pdio_object_reserve(call->ctx, &buffer->object);
	if (ret) {
		pdio_drain_kill(&buffer->object.drain);
		return ret;
	}
	call->object = &buffer->object;
	if (reg->file_id) {
		ret = ioctl_buffer_pair(call, buffer, reg->file_id,
					&reg->out_reason);
		if (ret)
			return ret;
	}
	reg->out_id = buffer->object.id;
	reg->out_length = buffer->bytes;
	return 0;
}

static int ioctl_file_register(struct ioctl_call *call)
{
	struct pdio_file_register *reg = call->arg;
	struct pdio_file *file;
	int ret;

	reg->out_id = 0;
	if (reg->flags)
		return -EOPNOTSUPP;
	if (reg->__reserved)
		return -EINVAL;
	file = pdio_file_create(reg->fd);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = pdio_object_reserve(call->ctx, &file->object);
	if (ret) {
		pdio_drain_kill(&file->object.drain);
		return ret;
	}
	call->object = &file->object;
	reg->out_id = file->object.id;
	reg->out_reason = pdio_route_kernel_reason() ?: pdio_file_reason(file);
	reg->out_offset_align = file->offset_align;
	reg->out_mem_align = file->offset_align ? file->mem_align : 0;
	return 0;
}

static void route_answer(struct pdio_route *answer,
			 const struct pdio_route_info *route,
			 const struct pdio_client *client)
{
	answer->out_route = route->route;
	answer->out_reason = route->reason;
	answer->out_map_type = route->map_type;
	answer->out_provider_domain = route->provider_domain;
	answer->out_provider_bdf = route->provider_bdf;
	answer->out_client_domain = 0;
	answer->out_client_bdf = PDIO_BDF_NONE;
	if (client) {
		answer->out_client_domain = pci_domain_nr(client->pdev->bus);
		answer->out_client_bdf = pci_dev_id(client->pdev);
	}
}

static int ioctl_route(struct ioctl_call *call)
{
	struct pdio_route_info route = { .provider_bdf = PDIO_BDF_NONE };
	struct pdio_route *ask = call->arg;
	struct pdio_buffer *buffer;
	struct pdio_attach *attach;
	struct pdio_file *file;
	int ret = 0;

	route_answer(ask, &route, NULL);
	if (ask->flags || ask->op > PDIO_OP_WRITE)
		return -EOPNOTSUPP;
	buffer = pdio_buffer_get(call->ctx, ask->buffer_id);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	file = pdio_file_get(call->ctx, ask->file_id);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto out_buffer;
	}
	if (ask->op == PDIO_OP_READ && !buffer->writable) {
		ret = -EBADF;
		goto out_file;
	}
	attach = pdio_route_get(buffer, file, &route);
	if (!IS_ERR(attach))
		pdio_attach_put(attach);
	else if (PTR_ERR(attach) != -EXDEV)
		ret = PTR_ERR(attach);
	route_answer(ask, &route, file->client);
out_file:
	pdio_object_put(&file->object);
out_buffer:
	pdio_object_put(&buffer->object);
	return ret;
}

static int ioctl_rw(struct ioctl_call *call)
{
	return pdio_io_rw(call->ctx, call->arg);
}

static int ioctl_destroy(struct ioctl_call *call)
{
	const struct pdio_destroy *destroy = call->arg;

	return pdio_object_destroy(call->ctx, destroy->id);
}

#define IOCTL_OP(_cmd, _struct, _last, _answer, _execute)		\
	[_IOC_NR(_cmd) - PDIO_CMD_BASE] = {				\
		.size = sizeof(struct _struct),				\
		.min_size = offsetofend(struct _struct, _last),		\
		.answer = ANSWER_ ## _answer,				\
		.execute = _execute,					\
	}

static const struct ioctl_op ioctl_ops[] = {
	IOCTL_OP(PDIO_INFO, pdio_info, out_bytes_cpu, SUCCESS, ioctl_info),
	IOCTL_OP(PDIO_BUFFER_REGISTER, pdio_buffer_register, out_length, ALWAYS,
		 ioctl_buffer_register),
	IOCTL_OP(PDIO_FILE_REGISTER, pdio_file_register, out_mem_align, SUCCESS,
		 ioctl_file_register),
	IOCTL_OP(PDIO_ROUTE, pdio_route, out_client_bdf, ALWAYS, ioctl_route),
	IOCTL_OP(PDIO_RW, pdio_rw, out_bytes_cpu, PROBED, ioctl_rw),
	IOCTL_OP(PDIO_DESTROY, pdio_destroy, id, NEVER, ioctl_destroy),
};

union ioctl_arg {
	struct pdio_info info;
	struct pdio_buffer_register buffer_register;
	struct pdio_file_register file_register;
	struct pdio_route route;
	struct pdio_rw rw;
	struct pdio_destroy destroy;
};

static int ioctl_answer(const struct ioctl_op *op, const void *arg,
			void __user *user, u32 size)
{
	return copy_to_user(user, arg, min_t(size_t, size, op->size)) ?
		-EFAULT : 0;
}

static int ioctl_serve(const struct ioctl_op *op, struct ioctl_call *call,
		       void __user *user, u32 size)
{
	int ret;

	if (op->answer == ANSWER_PROBED &&
	    ioctl_answer(op, call->arg, user, size))
		return -EFAULT;
	ret = op->execute(call);
	if (op->answer != ANSWER_NEVER &&
	    (!ret || op->answer != ANSWER_SUCCESS) &&
	    ioctl_answer(op, call->arg, user, size))
		ret = -EFAULT;
	if (call->object && ret)
		pdio_object_abort(call->ctx, call->object);
	else if (call->object)
		pdio_object_finalize(call->ctx, call->object);
	return ret;
}

static long pdio_fop_ioctl(struct file *file, unsigned int cmd,
			   unsigned long uarg)
{
	struct ioctl_call call = { .ctx = file->private_data };
	void __user *user = (void __user *)uarg;
	unsigned int nr = _IOC_NR(cmd);
	const struct ioctl_op *op;
	union ioctl_arg arg;
	u32 size;
	int ret;

	if (nr < PDIO_CMD_BASE || nr - PDIO_CMD_BASE >= ARRAY_SIZE(ioctl_ops) ||
	    cmd != _IO(PDIO_TYPE, nr))
		return -ENOTTY;
	op = &ioctl_ops[nr - PDIO_CMD_BASE];
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < op->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, op->size, user, size);
	if (ret)
		return ret;
	call.arg = &arg;
	return ioctl_serve(op, &call, user, size);
}

static int pdio_fop_open(struct inode *inode, struct file *file)
{
	struct pdio_ctx *ctx = pdio_ctx_alloc();

	if (!ctx)
		return -ENOMEM;
	file->private_data = ctx;
	return nonseekable_open(inode, file);
}

static int pdio_fop_release(struct inode *inode, struct file *file)
{
	pdio_ctx_free(file->private_data);
	return 0;
}

static const struct file_operations pdio_fops = {
	.owner = THIS_MODULE,
	.open = pdio_fop_open,
	.release = pdio_fop_release,
	.unlocked_ioctl = pdio_fop_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice pdio_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pdio",
	.fops = &pdio_fops,
	.mode = 0660,
};

/**
 * pdio_ioctl_start - make /dev/pdio
 *
 * Context: module init, after all it calls is ready.
 * Return: 0 or a negative errno.
 */
int pdio_ioctl_start(void)
{
	return misc_register(&pdio_misc);
}

/**
 * pdio_ioctl_stop - remove /dev/pdio
 *
 * Context: module exit; no descriptor is open.
 */
void pdio_ioctl_stop(void)
{
	misc_deregister(&pdio_misc);
}
