import { constants } from 'node:os';
import { Semaphore } from '@stowage/plugin-api';
import type { LibraryHandle } from 'koffi';
import { readEntry, readFileStat, readOwnership } from './fileStat.js';
import { mountOf, mountPoints } from './mounts.js';
import { mayReadByMode } from './permissions.js';
import type { RawEntry, RawName } from './rawNames.js';
import type { SystemCalls } from './systemCalls.js';
import { isAllowed, isSystemError, systemError } from './systemErrors.js';

type NativeFunction = ReturnType<LibraryHandle['func']>;

/** renameat2's number by processor; openat2's is 437 on all. Called by number, since not every C library has names for them. */
const renameat2Numbers: Readonly<Record<string, number>> = { x64: 316, arm64: 276, riscv64: 276, ia32: 353, arm: 382 };
const openat2Number = 437;

const renameNoReplaceFlag = 1;
const renameExchangeFlag = 2;
const lockExclusiveNonBlocking = 2 | 4;
const writebackStart = 2;
const closeOnExec = 0o2000000;
/** Over no link and not out of the folder. */
const resolveBeneath = 0x08 | 0x04;
/** Only as far as the kernel's cache reaches. */
const resolveCached = 0x20;
/** The kernel's own limit of a path in one call, with the NUL at its end (`PATH_MAX`). */
const maxPathBytes = 4096;
/** The working directory, which an absolute path does not care about. */
const currentFolder = -100;
const symlinkNoFollow = 0x100;
const emptyPath = 0x1000;
const maxHandleBytes = 128;
/** The kernel's own limit of an attribute (`XATTR_SIZE_MAX`). */
const maxAttributeBytes = 64 * 1024;
const noAttribute = ['ENODATA', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'] as const;
/** Checks with the effective ids of the process, not the real ones. */
const effectiveRights = 0x200;
const readRights = { file: 4, directory: 4 | 1 };
const changeRights = 2 | 1;
const dontSync = 0x4000;
/** Only as far as no disk has to be waited for. */
const dontWait = 8;
/** Type, mode, owner, group, size and modified time; and with it inode, birth and change time. */
const entryMask = 0x1 | 0x2 | 0x8 | 0x10 | 0x40 | 0x200;
const allMask = 0xfff;

/** The most asynchronous calls at once. More would only wait in the library's own queue, which throws when it is full. */
const maxAsyncCalls = 64;

/** Bytes of names in the first read and later ones: a small first read returns sooner. */
const firstNamesBytes = 8 * 1024;
const namesBytes = 64 * 1024;

/** Linux's own calls through koffi; undefined if koffi has no build for this machine or the kernel is too old. */
export async function loadLinuxCalls(): Promise<SystemCalls | undefined> {
	const renameat2Number = renameat2Numbers[process.arch];
	const koffi = await import('koffi').then(
		(module) => module.default,
		() => undefined,
	);
	if (koffi === undefined || renameat2Number === undefined) return undefined;
	const libc = koffi.load(null);
	const declare = (declaration: string) => libc.func(declaration);

	const rename = declare('long syscall(long, int, const char*, int, const char*, uint)');
	const openat2 = declare('long syscall(long, int, const char*, const void*, size_t)');
	const statx = declare('int statx(int, const char*, int, uint, void*)');
	const faccessat = declare('int faccessat(int, const char*, int, int)');
	const nameToHandle = either(
		() => declare('int name_to_handle_at(int, const char*, void*, void*, int)'),
		() => undefined,
	);
	const flock = declare('int flock(int, int)');
	const syncfs = declare('int syncfs(int)');
	const syncFileRange = declare('int sync_file_range(int, int64, int64, uint)');
	const copyFileRange = declare('int64 copy_file_range(int, void*, int, void*, size_t, uint)');
	// The same call under the name that the C library at hand has for it.
	const getdents = either(
		() => declare('long getdents64(int, void*, size_t)'),
		() => declare('long getdents(int, void*, size_t)'),
	);
	// Younger than the other calls, and only built for the pointers of today.
	const readNow =
		koffi.sizeof('void*') === 8
			? either(
					() => declare('long preadv2(int, const void*, int, int64, int)'),
					() => undefined,
				)
			: undefined;
	const fgetxattr = declare('int64 fgetxattr(int, const char*, void*, size_t)');
	const fsetxattr = declare('int fsetxattr(int, const char*, const void*, size_t, int)');
	const fremovexattr = declare('int fremovexattr(int, const char*)');
	const attribute = Buffer.alloc(maxAttributeBytes);
	const semaphore = new Semaphore(maxAsyncCalls);

	const call = (name: string, fn: NativeFunction, ...args: unknown[]): Promise<number> =>
		semaphore.run(
			() =>
				new Promise<number>((resolve, reject) => {
					fn.async(...args, (error: unknown, result: number) => {
						if (error) reject(error);
						else if (result < 0) reject(systemError(name, koffi.errno()));
						else resolve(result);
					});
				}),
		);

	// `struct open_how`: flags, mode and how to resolve, 8 bytes each.
	const how = Buffer.alloc(24);
	const openNow = (fd: number, path: string, flags: number, resolve: number): number | 'missing' | undefined => {
		// A byte or more each.
		if (path.length >= maxPathBytes) return undefined;
		how.writeUInt32LE(flags | closeOnExec, 0);
		how.writeUInt32LE(resolve | resolveCached, 16);
		const opened: number = openat2(openat2Number, fd, path, how, how.length);
		if (opened >= 0) return opened;
		// What is not cached is EAGAIN.
		const errno = koffi.errno();
		return errno === constants.errno.ENOENT ? 'missing' : undefined;
	};
	// `struct iovec`: address and length.
	const target = Buffer.alloc(16);
	const status = Buffer.alloc(256);
	const fields = new DataView(status.buffer, status.byteOffset, status.length);

	// `struct file_handle`: its length (4 bytes), its type (4) and the handle itself.
	const handle = Buffer.alloc(8 + maxHandleBytes);
	const mountId = Buffer.alloc(4);

	/** Fills `status`; false if there is no object of that name. */
	const statusNow = (fd: number, name: string, mask: number): boolean => {
		if (statx(fd, name, symlinkNoFollow, mask, status) === 0) return true;
		const errno = koffi.errno();
		if (errno === constants.errno.ENOENT) return false;
		throw systemError('statx', errno);
	};

	return {
		namesByDescriptor: true,
		async renameNoReplace(from, fromName, to, toName) {
			await call('renameat2', rename, renameat2Number, from.fd, fromName, to.fd, toName, renameNoReplaceFlag);
		},
		async exchange(one, oneName, other, otherName) {
			await call('renameat2', rename, renameat2Number, one.fd, oneName, other.fd, otherName, renameExchangeFlag);
		},
		tryLock(fd) {
			if (flock(fd, lockExclusiveNonBlocking) === 0) return true;
			return isSystemError(systemError('flock', koffi.errno()), 'EAGAIN') ? false : undefined;
		},
		async syncFileSystem(fd) {
			await call('syncfs', syncfs, fd);
			return true;
		},
		async startWriteback(fd, position, length) {
			await call('sync_file_range', syncFileRange, fd, position, length, writebackStart);
		},
		async copyRange(source, target, length) {
			try {
				return await call('copy_file_range', copyFileRange, source, null, target, null, length, 0);
			} catch (error) {
				// Two file systems, one without this call, an old kernel, or a container that forbids unknown calls.
				if (isSystemError(error, 'EXDEV', 'EINVAL', 'EOPNOTSUPP', 'ENOSYS', 'EPERM')) return undefined;
				throw error;
			}
		},
		async *readNames(folder) {
			let buffer = Buffer.allocUnsafe(firstNamesBytes);
			for (;;) {
				const length = await call('getdents64', getdents, folder.fd, buffer, buffer.length);
				if (length === 0) return;
				yield parseNames(buffer, length);
				if (buffer.length < namesBytes) buffer = Buffer.allocUnsafe(namesBytes);
			}
		},
		openCached: (fd, path, flags) => openNow(fd, path, flags, resolveBeneath),
		openRootCached(path, flags) {
			const opened = openNow(currentFolder, path, flags, 0);
			return opened === 'missing' ? undefined : opened;
		},
		readCached(fd, buffer, position) {
			if (readNow === undefined) return 0;
			target.writeBigUInt64LE(koffi.address(buffer), 0);
			target.writeBigUInt64LE(BigInt(buffer.length), 8);
			const bytes: number = readNow(fd, target, 1, position, dontWait);
			return Math.max(0, bytes);
		},
		statCached(fd) {
			return statx(fd, '', emptyPath | dontSync, allMask, status) < 0 ? undefined : readFileStat(fields);
		},
		ownershipCached(fd) {
			return statx(fd, '', emptyPath | dontSync, allMask, status) < 0 ? undefined : readOwnership(fields);
		},
		statSync: (fd, name) => (statusNow(fd, name, allMask) ? readFileStat(fields) : undefined),
		handleOf(fd, name) {
			handle.writeUInt32LE(maxHandleBytes, 0);
			if (nameToHandle?.(fd, name, handle, mountId, name === '' ? emptyPath : 0) !== 0) return undefined;
			return handle.toString('latin1', 4, 8 + handle.readUInt32LE(0));
		},
		attributes: {
			async read(fd, name) {
				const value = Buffer.alloc(maxAttributeBytes);
				try {
					return value.subarray(0, await call('fgetxattr', fgetxattr, fd, name, value, value.length));
				} catch (error) {
					if (isSystemError(error, ...noAttribute)) return undefined;
					throw error;
				}
			},
			readSync(fd, name) {
				const length: number = fgetxattr(fd, name, attribute, attribute.length);
				if (length >= 0) return Buffer.from(attribute.subarray(0, length));
				const errno = koffi.errno();
				// An error object takes longer than the call, and most files have no attribute.
				if (noAttribute.some((code) => constants.errno[code] === errno)) return undefined;
				throw systemError('fgetxattr', errno);
			},
			async write(fd, name, value) {
				await call('fsetxattr', fsetxattr, fd, name, value, value.length, 0);
			},
			async remove(fd, name) {
				await call('fremovexattr', fremovexattr, fd, name);
			},
		},
		mountOf,
		mountPoints,
		mayRead: (folder, name, type) =>
			isAllowed(call('faccessat', faccessat, folder.fd, name, readRights[type], effectiveRights)),
		mayChange: (folder) =>
			isAllowed(call('faccessat', faccessat, folder.fd, '.', changeRights, effectiveRights)).catch(() => true),
		mayReadSync: (fd, name, type) => faccessat(fd, name, readRights[type], effectiveRights) === 0,
		entrySync(fd, name) {
			const row = statusNow(fd, name, entryMask) ? readEntry(fields, name) : undefined;
			if (row === undefined || mayReadByMode(readOwnership(fields), row.type)) return row;
			// An ACL may allow what the mode does not.
			if (faccessat(fd, name, readRights[row.type], effectiveRights) === 0) return row;
			return isSystemError(systemError('faccessat', koffi.errno()), 'EACCES') ? { ...row, unreadable: true } : row;
		},
	};
}

/** Declares a call that not every C library has; without it, something else. */
function either<T>(first: () => T, second: () => T): T {
	try {
		return first();
	} catch {
		return second();
	}
}

const types: Readonly<Record<number, RawEntry['type']>> = { 0: 'unknown', 4: 'directory', 8: 'file' };

/** `struct linux_dirent64`: inode and offset (8 bytes each), length of the record (2), type (1), name up to a NUL. */
function parseNames(buffer: Buffer, length: number): RawEntry[] {
	const entries: RawEntry[] = [];
	for (let at = 0; at < length; at += buffer.readUInt16LE(at + 16)) {
		const name = buffer.toString('latin1', at + 19, buffer.indexOf(0, at + 19)) as RawName;
		if (name !== '.' && name !== '..') entries.push({ name, type: types[buffer[at + 18] ?? 0] ?? 'other' });
	}
	return entries;
}
