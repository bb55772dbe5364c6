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
 * nothing: where they conceal what is destroyed by what was there before, it takes that for a frame. `onTime` is called with how many
 * seconds are decoded. Undefined if ffprobe fails.
 */
export async function countDecodingErrors(
	decoder: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
	onTime: (seconds: number) => void = () => {},
): Promise<number | undefined> {
	const threads = String(Math.min(maxThreads, os.availableParallelism()));
	const args = [
		// Also what a decoder leaves unread of a packet.
		...['-threads', threads, '-err_detect', 'crccheck+bitstream+buffer', ...source, '-v', 'level+info'],
		...['-show_entries', 'frame=stream_index,pts_time', '-of', 'csv=p=0'],
	];
	let errors = 0;
	const onLogLine = (line: string) => {
		if (isError(line)) errors++;
	};
	const times = decodedSeconds(onTime);
	const { code } = await decoder.run(args, { files: [descriptor], signal, onLine: times, onLogLine });
	return code === 0 ? errors : undefined;
}

/** Such as `0,1.200000`, and more behind another comma. */
const frame = /^\d+,(-?[\d.]+)/;

/** Reads the times of frames, and reports each whole second once. */
export function decodedSeconds(onTime: (seconds: number) => void): (line: string) => void {
	let begin: number | undefined;
	let reported = 0;
	return (line) => {
		const time = Number(frame.exec(line)?.[1]);
		if (!Number.isFinite(time)) return;
		begin ??= time;
		const seconds = Math.floor(time - begin);
		if (seconds <= reported) return;
		reported = seconds;
		onTime(seconds);
	};
}
