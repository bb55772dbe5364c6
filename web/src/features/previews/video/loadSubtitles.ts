import type { Entry } from '@stowage/rules';
import { readWhole } from '../../../api/previews.js';
import { decode, type Encoding } from '../text/encodings.js';
import { maxSubtitleBytes, toVtt } from './subtitles.js';

export interface SubtitleFile {
	entry: Entry;
	label: string;
}

export interface Subtitles {
	label: string;
	content: Blob;
}

/** The subtitles that can be read, for the player. Throws once the signal is fired. */
export async function loadSubtitles(
	files: readonly SubtitleFile[],
	addressOf: (entry: Entry) => string,
	detect: (bytes: Uint8Array, signal: AbortSignal) => Promise<Encoding>,
	signal: AbortSignal,
): Promise<Subtitles[]> {
	const loaded: Subtitles[] = [];
	for (const { entry, label } of files) {
		try {
			const bytes = await readWhole(addressOf(entry), maxSubtitleBytes, signal);
			const text = decode(bytes, await detect(bytes, signal));
			loaded.push({ label, content: new Blob([toVtt(text)], { type: 'text/vtt' }) });
		} catch {
			// The film is shown without them.
		}
		signal.throwIfAborted();
	}
	return loaded;
}
