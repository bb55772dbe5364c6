import { isMoreSaid, type SaidLanguage } from '../../probing/languages.js';
import type { Findings, Scanner } from '../reading/scanner.js';
import { elementsIn, numberAt, textAt, vintAt } from './ebml.js';

const [trackNumber, trackType, plainLanguage, fullLanguage] = [0xd7, 0x83, 0x22b59c, 0x22b59d];

/** Of video, sound, subtitles and metadata: ffprobe leaves out others. */
const trackTypes: ReadonlySet<number> = new Set([1, 2, 0x11, 0x21]);
/** Those of which an output has one track only. */
const pictures = '1';

/** ffprobe reads no more. */
const maxTracks = 1000;

/** The tracks of a Matroska file: what ffprobe does not read of them is added to what no program reads. */
export class MatroskaTracks {
	readonly #scanner: Scanner;
	readonly #found: Findings;
	readonly #numbers = new Set<number>();
	readonly #languages: SaidLanguage[] = [];

	constructor(scanner: Scanner, found: Findings) {
		this.#scanner = scanner;
		this.#found = found;
	}

	/** Is called with the content of each track. */
	async take(at: number, end: number): Promise<void> {
		// A track that says none is English.
		const said = { kind: '', plain: 'eng', full: '' };
		for await (const { id, content, length } of elementsIn(this.#scanner, at, end)) {
			if (id === trackNumber && this.#numbers.size < maxTracks)
				this.#numbers.add(await numberAt(this.#scanner, content, length));
			if (id === trackType) {
				const kind = await numberAt(this.#scanner, content, length);
				if (!trackTypes.has(kind)) this.#found.addUnread('tracks of another kind');
				said.kind = String(kind);
			}
			if (id === plainLanguage) said.plain = await this.#languageAt(content, length);
			if (id === fullLanguage) said.full = await this.#languageAt(content, length);
		}
		if (said.kind !== pictures && this.#languages.length < maxTracks) this.#languages.push(said);
	}

	/** Is called with the place of each block of the film, which begins with the number of its track. */
	async takeBlock(at: number): Promise<void> {
		const number = vintAt(await this.#scanner.bytes(at, 8), 0);
		if (number === undefined || !this.#numbers.has(number.value)) this.#found.addUnread('blocks of no track');
	}

	/** Is called behind all elements. */
	finish(): void {
		if (isMoreSaid(this.#languages)) this.#found.addUnread('languages of tracks');
	}

	async #languageAt(at: number, length: number): Promise<string> {
		return (await textAt(this.#scanner, at, length, 'latin1')).replaceAll('\0', '');
	}
}
