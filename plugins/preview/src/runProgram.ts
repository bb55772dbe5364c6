import type { Readable } from 'node:stream';
import { killGroup, spawnLimited } from '@stowage/plugin-api';

export interface RunOptions {
	memoryBytes: number;
	/** The file that the program reads, as its descriptor 3. */
	descriptor: number;
	signal: AbortSignal;
}

/** A picture is smaller. */
const maxOutputBytes = 64 * 1024 * 1024;

const cpuSeconds = 25;

/** The path by which a program reads its descriptor 3. */
export const inputPath = '/dev/fd/3';

/** The program's standard output; undefined if it failed, wrote nothing or wrote too much. */
export async function runProgram(
	program: string,
	args: readonly string[],
	{ memoryBytes, descriptor, signal }: RunOptions,
): Promise<Buffer | undefined> {
	signal.throwIfAborted();
	const child = spawnLimited(program, args, { memoryBytes, cpuSeconds, files: [descriptor] });
	const end = () => killGroup(child);
	signal.addEventListener('abort', end, { once: true });
	const chunks: Buffer[] = [];
	let length = 0;
	child.stdin?.end();
	// Its messages are about a user's file, so they are not logged.
	child.stderr?.resume();
	(child.stdout as Readable).on('data', (chunk: Buffer) => {
		length += chunk.length;
		if (length > maxOutputBytes) end();
		else chunks.push(chunk);
	});
	try {
		const code = await new Promise<number | null>((resolve, reject) => {
			child.once('error', reject);
			child.once('close', resolve);
		});
		signal.throwIfAborted();
		return code === 0 && length > 0 && length <= maxOutputBytes ? Buffer.concat(chunks) : undefined;
	} finally {
		signal.removeEventListener('abort', end);
	}
}
