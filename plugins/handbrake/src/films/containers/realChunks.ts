import { type ReadAt, readerOf } from './reading/readAt.js';
import { type Contents, Findings, Scanner } from './reading/scanner.js';

/** The file, its traits, its texts, its tracks, their packets and the index of these. */
const known: ReadonlySet<string> = new Set(['.RMF', 'PROP', 'CONT', 'MDPR', 'DATA', 'INDX']);

/** What the chunks of a RealMedia file have that neither ffprobe nor HandBrake reads. Undefined if that can't be known. */
export async function realChunks(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal, 1_000_000);
	const found = new Findings();
	for (let at = 0; ; ) {
		if (!(await scanner.mayStep())) return undefined;
		const head = await scanner.bytes(at, 10);
		if (head.length < 8) return found;
		const [name, length] = [head.toString('latin1', 0, 4), head.readUInt32BE(4)];
		// A broadcast that was recorded says no length of its film.
		if (name === 'DATA' && length === 0) return found;
		if (length < 8 || !/^[ -~]{4}$/.test(name)) {
			if (await scanner.hasData(at)) found.addUnread('behind its chunks');
			return found;
		}
		if (!known.has(name)) found.addUnread(name);
		at += length;
	}
}

/** `realChunks` of an open file. */
export const realChunksIn = (descriptor: number, signal: AbortSignal) => realChunks(readerOf(descriptor), signal);
