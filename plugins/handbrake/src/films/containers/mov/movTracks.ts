import { isMoreSaid } from '../../probing/languages.js';
import { isNameOfProgram } from '../../texts/namesOfPrograms.js';

/** Boxes of a track that say what people tell it apart by, by those in which they are. */
const read: ReadonlyMap<string, string> = new Map([
	['hdlr', 'mdia'],
	['mdhd', 'mdia'],
	['elng', 'mdia'],
	['name', 'udta'],
	['tagc', 'udta'],
	['kind', 'udta'],
]);

/** The only mark of Apple that says nothing: ffprobe reads none of them. */
const mainMark = 'public.main-program-content';

/** Kinds that ffprobe reads, and those that say nothing. */
const readKinds: ReadonlySet<string> = new Set(
	['main', 'subtitle', 'caption', 'commentary', 'description', 'dub', 'forced-subtitle'].map(
		(kind) => `urn:mpeg:dash:role:2011\0${kind}`,
	),
);

/** Handlers of subtitles; others of text are those of chapters. */
const subtitles: ReadonlySet<string> = new Set(['sbtl', 'subt', 'subp', 'clcp']);

const maxTracks = 1000;

interface Track {
	kind: string;
	name: string;
	plain: string;
	full: string;
}

/** What an MP4 or MOV says of its tracks of sound and subtitles that neither ffprobe nor HandBrake reads. */
export class TrackNames {
	readonly #tracks: Track[] = [];
	#current: Track | undefined;
	#hasKinds = false;

	/** Is called before the boxes of each track. */
	begin(): void {
		this.#current = { kind: '', name: '', plain: '', full: '' };
		if (this.#tracks.length < maxTracks) this.#tracks.push(this.#current);
	}

	/** Is called behind them. */
	end(): void {
		this.#current = undefined;
	}

	/** Whether a box in another one says something of the track. */
	isOne(name: string, parent: string): boolean {
		return this.#current !== undefined && read.get(name) === parent;
	}

	/** Takes such a box of the track. */
	take(name: string, bytes: Buffer): void {
		const track = this.#current;
		if (track === undefined) return;
		const text = (from: number) => textOf(bytes.subarray(from));
		if (name === 'hdlr') track.kind = bytes.toString('latin1', 8, 12);
		else if (name === 'mdhd') {
			const at = bytes[0] === 1 ? 32 : 20;
			track.plain = at + 2 <= bytes.length ? packedLanguage(bytes.readUInt16BE(at)) : '';
		} else if (name === 'elng') track.full = text(4);
		else if (name === 'name') track.name = text(0);
		else this.#hasKinds ||= name === 'tagc' ? text(0) !== mainMark : !readKinds.has(text(4));
	}

	/** What is read by neither, in words for people. */
	unread(): string[] {
		// Of pictures there is one track in an output.
		const told = this.#tracks.flatMap(({ kind, ...track }) => {
			if (kind === 'soun') return [{ ...track, kind }];
			return subtitles.has(kind) ? [{ ...track, kind: 'subtitles' }] : [];
		});
		const isNamed = ({ kind, name }: Track) =>
			!isNameOfProgram(name) && told.filter((each) => each.kind === kind).length > 1;
		return [
			...(told.some(isNamed) ? ['names of tracks'] : []),
			...(isMoreSaid(told) ? ['languages of tracks'] : []),
			...(this.#hasKinds ? ['kinds of tracks'] : []),
		];
	}
}

/** Up to the zeros that end it. */
function textOf(bytes: Buffer): string {
	let end = bytes.length;
	while (end > 0 && bytes[end - 1] === 0) end--;
	return bytes.toString('utf8', 0, end).trim();
}

/** Three letters of 5 bits; in a MOV also a number, of which 0 is English. */
function packedLanguage(code: number): string {
	if (code === 0) return 'eng';
	if (code < 0x400 || code === 0x7fff) return '';
	return String.fromCharCode(...[10, 5, 0].map((bits) => 0x60 + ((code >> bits) & 31)));
}
