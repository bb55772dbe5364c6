import { isStartupMistake } from '@stowage/core';
import { isFailure } from '@stowage/rules';

/** EX_CONFIG of sysexits.h: a supervisor need not try again before the configuration was changed. */
const exitConfig = 78;

/** Thrown by a command that has printed its error already. */
export class ExitCode extends Error {
	constructor(readonly code: number) {
		super(`The command ended with ${code}.`);
	}
}

/** The message of an error, in one sentence, and the exit code; a stack is shown only for a bug. */
export function explain(error: unknown): { message: unknown; code: number } {
	if (error instanceof ExitCode) return { message: undefined, code: error.code };
	if (isStartupMistake(error)) return { message: error.message, code: exitConfig };
	if (isFailure(error)) return { message: error.message, code: 1 };
	if (isListenFault(error)) {
		const reason = error.code === 'EADDRINUSE' ? 'is already in use' : `can't be used (${error.code})`;
		const port = error.port === undefined ? '' : `:${error.port}`;
		return { message: `The address ${error.address}${port} ${reason}.`, code: 1 };
	}
	const fault = systemFault(error);
	if (fault !== undefined) return { message: fault, code: 1 };
	if (isUnknownHost(error)) return { message: `The address ${error.hostname} is not known (${error.code}).`, code: 1 };
	return { message: error, code: 1 };
}

/** What the system refused for a reason that an administrator can remove. Anything else is a bug of ours. */
function systemFault(error: unknown): string | undefined {
	if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
	const { code } = error;
	if (typeof code !== 'string') return undefined;
	const paths = ['path', 'dest'].flatMap((name) => {
		const value: unknown = Reflect.get(error, name);
		return value === undefined ? [] : [withoutDescriptors(String(value))];
	});
	const message = reasons.get(code);
	if (message === undefined) return undefined;
	return `${paths.length === 0 ? 'A file' : paths.join(', ')} can't be used (${code.replace('ERR_FS_', '')}): ${message()}`;
}

/** A text of the system's, whose paths begin in an open folder: nobody can look its number up later. */
export function withoutDescriptors(text: string): string {
	return text.replaceAll(/\/proc\/self\/fd\/\d+\/?/g, '');
}

const needsRights = () =>
	`this runs as user ${process.geteuid?.()}. Run it as the owner of the file, or give the file to this user (chown -h).`;
const isAway = () => 'its disk is away or damaged. See the log of the kernel (dmesg).';
const isFull = () => 'its disk or a quota of the system is full. Make room, and run this again.';
const tooMany = () => 'too many files are open. Raise the limit (ulimit -n).';

/** Reasons by the system's error code. */
const reasons: ReadonlyMap<string, () => string> = new Map([
	...(['EACCES', 'EPERM'] as const).map((code) => [code, needsRights] as const),
	...(['EIO', 'ENODEV', 'ENXIO', 'ESTALE'] as const).map((code) => [code, isAway] as const),
	...(['ENOSPC', 'EDQUOT'] as const).map((code) => [code, isFull] as const),
	...(['EMFILE', 'ENFILE'] as const).map((code) => [code, tooMany] as const),
	['EROFS', () => 'its file system is mounted read-only.'],
	['ENOTDIR', () => 'what should be a folder on the way is none.'],
	...(['EISDIR', 'ERR_FS_EISDIR'] as const).map((code) => [code, () => 'it is a folder.'] as const),
	['EEXIST', () => 'something else lies there in its place.'],
	['ELOOP', () => 'its links lead in a circle.'],
	['ENAMETOOLONG', () => 'its name, or that of what a link in its place leads to, is too long.'],
]);

/** The errors of Node when it can't listen. */
function isListenFault(error: unknown): error is Error & { code: string; address: string; port?: number } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'address' in error;
}

/** The errors of Node when the host name to listen on can't be resolved. */
function isUnknownHost(error: unknown): error is Error & { code: string; hostname: string } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo' && 'hostname' in error;
}
