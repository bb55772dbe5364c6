import type { Readable } from 'node:stream';
import {
	beginMark,
	Failure,
	killGroup,
	type ProgramEnd,
	type Sandbox,
	spawnLimited,
	wasDisturbed,
	wasNotStarted,
} from '@stowage/plugin-api';

export interface RunOptions {
	memoryBytes: number;
	/** The file that the program reads, as its descriptor 3. */
	descriptor: number;
	signal: AbortSignal;
	/** Undefined for limits only. */
	sandbox: Sandbox | undefined;
}

/** A picture is smaller. */
const maxOutputBytes = 64 * 1024 * 1024;

/** The processor time of each try; all of them together are ended by the signal. */
const cpuSeconds = 12;

/** How much of its standard error is kept. */
const maxErrorText = 2000;

/** The path by which a program reads its descriptor 3. */
export const inputPath = '/dev/fd/3';

/**
 * The program's standard output; undefined if it failed at the file, wrote nothing or wrote too much. Throws `unavailable` if it could
 * not be started, was ended from outside or had not begun when the signal fires, which says nothing of the file; else the signal's reason.
 */
export async function runProgram(
	program: string,
	args: readonly string[],
	{ memoryBytes, descriptor, signal, sandbox }: RunOptions,
): Promise<Buffer | undefined> {
	if (signal.aborted) throw notNow(signal.reason);
	const limits = { memoryBytes, cpuSeconds, fileBytes: 0, files: [descriptor] };
	let child: ReturnType<typeof spawnLimited>;
	let hasBegun: boolean;
	try {
		const needs = { files: [{ descriptor: 3, access: 'read' as const, source: descriptor }], announces: true };
		const wrapped = sandbox?.wrap(program, args, needs);
		hasBegun = wrapped?.announces !== true;
		child = spawnLimited(wrapped?.command ?? program, wrapped?.args ?? args, limits);
	} catch (error) {
		// Some errors of starting it are thrown, others are events. A program may be gone after an upgrade.
		throw notNow(error);
	}
	const end = () => killGroup(child);
	signal.addEventListener('abort', end, { once: true });
	const chunks: Buffer[] = [];
	let length = 0;
	let errors = '';
	child.stdin?.on('error', () => {}).end();
	// Its messages are about a user's file, so they are not logged.
	child.stderr?.on('data', (chunk: Buffer) => {
		if (errors.length < maxErrorText) errors += chunk.toString('latin1');
		const mark = hasBegun ? -1 : errors.indexOf(beginMark);
		if (mark === -1) return;
		hasBegun = true;
		errors = errors.slice(mark + 1);
	});
	(child.stdout as Readable | null)?.on('data', (chunk: Buffer) => {
		length += chunk.length;
		if (length > maxOutputBytes) end();
		else chunks.push(chunk);
	});
	try {
		const outcome = await new Promise<Omit<ProgramEnd, 'errors'>>((resolve, reject) => {
			child.once('error', (error) => reject(notNow(error)));
			child.once('close', (code, endedBy) => resolve({ code, signal: endedBy }));
		});
		if (signal.aborted) throw hasBegun ? signal.reason : notNow(signal.reason);
		if (length > maxOutputBytes) return undefined;
		const ended = { ...outcome, errors };
		if (wasDisturbed(ended) || wasNotStarted(ended)) throw notNow(outcome);
		return outcome.code === 0 && length > 0 ? Buffer.concat(chunks) : undefined;
	} finally {
		signal.removeEventListener('abort', end);
	}
}

/** The refusal of a picture that may be made later, in so many seconds. */
export function notNow(cause: unknown, retryAfter = 30): Failure {
	return new Failure('unavailable', 'There are no previews right now.', { cause, retryAfter });
}

/** What is done before a decoder begins. Throws `unavailable` where it is not done when the signal fires: no file has a part in that. */
export function beforeDecoding<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const leave = () => reject(notNow(signal.reason));
		if (signal.aborted) leave();
		signal.addEventListener('abort', leave, { once: true });
		done.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
	});
}
