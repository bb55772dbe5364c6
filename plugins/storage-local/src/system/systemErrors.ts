import { getSystemErrorName } from 'node:util';
import { baseName, Failure, type FailureKind, invalidNameMessage, rootPath, type StoragePath } from '@stowage/rules';

type Sentence = (name: string) => string;

const notFound: [FailureKind, Sentence] = ['notFound', (name) => `No such file or folder: ${name}`];
const exists: [FailureKind, Sentence] = ['alreadyExists', (name) => `There is already a file or folder named ${name}`];
const forbidden: [FailureKind, Sentence] = ['forbidden', (name) => `No permission to read or change: ${name}`];
const full: [FailureKind, Sentence] = ['storageFull', () => 'The storage is full.'];
const invalidName: [FailureKind, Sentence] = ['invalidName', () => invalidNameMessage];
const inUse: [FailureKind, Sentence] = ['locked', (name) => `In use right now: ${name}`];
const faulty: [FailureKind, Sentence] = ['unavailable', () => 'The storage does not answer as it should.'];

/** EACCES for a folder of the storage's own, such as that of uploads: no user caused that, or could do anything about it. */
const ownForbidden: [FailureKind, Sentence] = ['unavailable', () => 'The storage can’t use its own folders right now.'];

/** Maps errors of the operating system to Failures. Any other error is a bug. */
const failuresByCode: Readonly<Record<string, [FailureKind, Sentence]>> = {
	ENOENT: notFound,
	ENOTDIR: notFound,
	EISDIR: notFound,
	ELOOP: notFound,
	// The error for opening a socket.
	ENXIO: notFound,
	EEXIST: exists,
	ENOTEMPTY: exists,
	EACCES: forbidden,
	EPERM: forbidden,
	ENOSPC: full,
	EDQUOT: full,
	EFBIG: ['tooLarge', () => 'The file is larger than the storage can hold.'],
	EILSEQ: invalidName,
	ENAMETOOLONG: invalidName,
	EBUSY: inUse,
	ETXTBSY: inUse,
	// Another program has a lease on the file.
	EAGAIN: inUse,
	EXDEV: ['conflict', (name) => `${name} lies on another disk than the rest of the storage.`],
	EMLINK: ['conflict', () => 'The folder holds as many folders as it can.'],
	EROFS: ['unavailable', () => 'The storage is read-only right now.'],
	EIO: faulty,
	EUCLEAN: faulty,
	// A checksum on the disk is wrong.
	EBADMSG: faulty,
	EREMOTEIO: faulty,
	EPROTO: faulty,
	ESTALE: faulty,
	ENODEV: faulty,
	ENOTCONN: faulty,
	ESHUTDOWN: faulty,
	EHOSTDOWN: faulty,
	ETIMEDOUT: faulty,
	EMFILE: ['unavailable', () => 'Too many files are open right now.'],
	ENFILE: ['unavailable', () => 'Too many files are open right now.'],
};

/** The operating system's error code, such as `ENOENT`. */
export function systemErrorCode(error: unknown): string | undefined {
	return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether `error` is one of these of the operating system's. */
export function isSystemError(error: unknown, ...codes: string[]): boolean {
	const code = systemErrorCode(error);
	return code !== undefined && codes.includes(code);
}

/** Whether a file system can't tell of one object what it is: its inode is damaged, or a server has lost it. */
export function isDamage(error: unknown): boolean {
	return isSystemError(error, 'EIO', 'EUCLEAN', 'ESTALE');
}

/** Throws any error but ENOENT. For a file of our own that a sweep of leftovers, also of another process, may remove meanwhile. */
export function ignoreMissing(error: unknown): void {
	if (!isSystemError(error, 'ENOENT')) throw error;
}

/** An error like those of node:fs, for native calls. */
export function systemError(call: string, errno: number): Error {
	const code = getSystemErrorName(-errno);
	return Object.assign(new Error(`${code}: ${call}`), { code, errno: -errno, syscall: call });
}

/** The Failure for `error` about the item at `path`; an unknown error is returned unchanged. */
export function toFailure(error: unknown, path: StoragePath): unknown {
	const meaning = failuresByCode[systemErrorCode(error) ?? ''];
	if (meaning === undefined) return error;
	const [kind, sentence] = meaning === forbidden && path === rootPath ? ownForbidden : meaning;
	// Only the last name: the path above it may belong to another user's home.
	return new Failure(kind, sentence(baseName(path)), { cause: error });
}

/** Runs `work`, and throws its errors as Failures about `path`; `alreadyExists` is about `target`. */
export async function withFailures<T>(path: StoragePath, work: () => Promise<T>, target = path): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw toFailure(error, isSystemError(error, 'EEXIST', 'ENOTEMPTY') ? target : path);
	}
}

export function noSuchEntry(path: StoragePath): Failure {
	return new Failure('notFound', `No such file or folder: ${baseName(path)}`);
}

/** The error for a file whose version is not the one to be replaced. */
export function fileChanged(cause?: unknown): Failure {
	return new Failure('preconditionFailed', 'The file has changed.', { cause });
}

export function nameTaken(path: StoragePath): Failure {
	return new Failure('alreadyExists', `There is already a file or folder named ${baseName(path)}`);
}

/**
 * Says the path of the root in place of that of a descriptor, which tells an administrator nothing, in the messages of an error and its
 * causes.
 */
export function nameRoot(error: unknown, root: string): void {
	for (let each = error; each instanceof Error; each = each.cause) {
		each.message = each.message.replaceAll(/\/proc\/self\/fd\/\d+([^']*)/g, (_, rest: string) =>
			// Another name is one in a folder below the root, and the descriptor does not tell in which.
			rest.startsWith('/.stowage') ? `${root}${rest}` : root,
		);
	}
}

/** Whether a check of access says that it is allowed. Throws any other error. */
export async function isAllowed(check: Promise<unknown>): Promise<boolean> {
	try {
		await check;
		return true;
	} catch (error) {
		if (isSystemError(error, 'EACCES', 'EPERM')) return false;
		throw error;
	}
}
