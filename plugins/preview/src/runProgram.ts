import type { Readable } from 'node:stream';
import {
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
 * not be started or was ended from outside, which says nothing of the file.
 */
export async function runProgram(
	program: string,
	args: readonly string[],
	{ memoryBytes, descriptor, signal, sandbox }: RunOptions,
): Promise<Buffer | undefined> {
	signal.throwIfAborted();
	const limits = { memoryBytes, cpuSeconds, fileBytes: 0, files: [descriptor] };
	let child: ReturnType<typeof spawnLimited>;
	try {
		const wrapped = sandbox?.wrap(program, args, { files: [{ descriptor: 3, access: 'read', source: descriptor }] });
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
		signal.throwIfAborted();
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
