import type { SandboxedProgram } from '../SandboxedProgram.js';
import { type Film, source } from './probe.js';

/** A line of subtitles has some hundred bytes. */
const maxLineBytes = 2 ** 16;

/** What moves a line, or has it fade or turn, within braces; the place in the middle below is where all lines are. */
const effect = /\\(?:an[13-9]|a\d|pos|move|org|fad|fr|i?clip|p[1-9])/;

/** A line of a dump such as `00000010: 3938 7d54 6f70 2073 6967 6e  98}Top sign`. */
const dumped = /^[0-9a-f]+: ((?:[0-9a-f]{2,4} )+)/;

/**
 * How many lines of the text subtitles of an open film say where on the screen they are, or how they move. It reads all packets, so a film
 * without such subtitles is not read. Undefined if that can't be known.
 */
export async function countPlacedLines(
	ffprobe: SandboxedProgram,
	descriptor: number,
	{ subtitleTracks }: Pick<Film, 'subtitleTracks'>,
	signal: AbortSignal,
): Promise<number | undefined> {
	const texts = new Set(subtitleTracks.filter(({ kind }) => kind === 'text').map(({ index }) => index));
	if (texts.size === 0) return 0;
	const args = [
		...[...source, '-select_streams', 's', '-show_data'],
		...['-show_entries', 'packet=stream_index,data:packet_side_data=side_data_type', '-of', 'default'],
	];
	const lines = placeReader(texts);
	// The first line may be at the end of the film.
	const run = { files: [descriptor], printsContent: true, silentSeconds: Number.POSITIVE_INFINITY, signal };
	const { code } = await ffprobe.run(args, { ...run, onLine: lines.take });
	return code === 0 ? lines.count() : undefined;
}

/** Reads packets of subtitles as ffprobe prints them, those of some streams. */
export function placeReader(streams: ReadonlySet<number>): { take(line: string): void; count(): number } {
	let count = 0;
	let isText = false;
	let isPlaced = false;
	let bytes = 0;
	let parts: string[] = [];
	return {
		take(line) {
			if (line === '[PACKET]') {
				[isText, isPlaced, bytes, parts] = [false, false, 0, []];
			} else if (line.startsWith('stream_index=')) isText = streams.has(Number(line.slice('stream_index='.length)));
			// A cue of WebVTT has its place beside its text.
			else if (line === 'side_data_type=WebVTT Settings') isPlaced = true;
			else if (line === '[/PACKET]') {
				if (isText && (isPlaced || hasEffect(parts.join('')))) count++;
			} else if (isText && bytes < maxLineBytes) {
				const digits = (dumped.exec(line)?.[1] ?? '').replaceAll(' ', '');
				bytes += digits.length / 2;
				parts.push(Buffer.from(digits, 'hex').toString('latin1'));
			}
		},
		count: () => count,
	};
}

function hasEffect(text: string): boolean {
	for (let begin = text.indexOf('{'); begin >= 0; ) {
		const end = text.indexOf('}', begin);
		if (end < 0) return false;
		if (effect.test(text.slice(begin, end))) return true;
		begin = text.indexOf('{', end);
	}
	return false;
}
