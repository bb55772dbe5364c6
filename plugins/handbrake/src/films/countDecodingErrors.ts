import os from 'node:os';
import type { SandboxedProgram } from '../SandboxedProgram.js';
import { source } from './probe.js';

const maxThreads = 8;

/** Packets that are not whole count, too: decoders make a frame of what there is of them, or the reader leaves them out. */
const isError = (line: string) =>
	/\[(?:error|fatal|panic)\]/.test(line) ||
	(/\[(?:warning|info)\]/.test(line) && /packet corrupt|incomplete packet/i.test(line));

/**
 * Decodes an open film from its beginning to its end, and counts what is wrong. HandBrake counts only packets of which its decoders make
 * nothing: where they conceal what is destroyed by what was there before, it takes that for a frame. Undefined if ffprobe fails.
 */
export async function countDecodingErrors(
	decoder: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
): Promise<number | undefined> {
	const threads = String(Math.min(maxThreads, os.availableParallelism()));
	const args = [
		...['-threads', threads, '-err_detect', 'crccheck', ...source, '-v', 'level+info'],
		...['-show_entries', 'frame=stream_index', '-of', 'csv=p=0'],
	];
	let errors = 0;
	const onLogLine = (line: string) => {
		if (isError(line)) errors++;
	};
	// Of the frames nothing is kept.
	const { code } = await decoder.run(args, { files: [descriptor], signal, onLine: () => {}, onLogLine });
	return code === 0 ? errors : undefined;
}
