import { type ReadAt, readerOf } from '../reading/readAt.js';
import { type Contents, Findings, Scanner } from '../reading/scanner.js';
import { XmpOfFilm } from '../xmp.js';
import { AsfTexts } from './asfTexts.js';

/** A file itself, in which its header is. */
const theFile = '';
/** Ids are written as they are in the file. */
const headerId = '3026b2758e66cf11a6d900aa0062ce6c';

/** Objects in which others are, those in which they are themselves, and how many bytes are before the others. */
const lists: ReadonlyMap<string, { parent: string; before: number }> = new Map([
	[headerId, { parent: theFile, before: 30 }],
	['b503bf5f2ea9cf118ee300c00c205365', { parent: headerId, before: 46 }],
]);

const paddingId = '74d40618dfca0945a4ba9aabcb96aae8';
const dataId = '3626b2758e66cf11a6d900aa0062ce6c';

/** XMP, by an id that programs write in either order. */
const xmpIds: ReadonlySet<string> = new Set(['cbcf7abea997e8429c71999491e3afac', 'be7acfcb97a942e89c71999491e3afac']);

/** Of contents that are encrypted. */
const encryptions: ReadonlySet<string> = new Set([
	...['fbb3112223bdd211b4b700a0c955fc6e', '14e68a292226174cb935dae07ee9289c', '338505438169e6499b74ad12cb86d58c'],
]);

/** Objects of which no film loses anything, or that ffprobe reads. */
const known: ReadonlySet<string> = new Set([
	// The film and its indexes.
	...[dataId, '90080033b1e5cf1189f400a0c90349cb', 'd329e2d6da35d111903400a0c90349be'],
	...['f803b1fead12644c840f2a1d2f7ad48c', 'd03fb73c4a0c0348953dedf7b6228f0c'],
	// The film, its tracks and codecs, what corrects errors, signatures.
	...['a1dcab8c47a9cf118ee400c00c205365', '9107dcb7b7a9cf118ee600c00c205365', '4052d1861d31d011a3a400a0c90348f6'],
	...['3526b2758e66cf11a6d900aa0062ce6c', 'ce75f87b8d46d1118d82006097c9a2b2', 'fcb3112223bdd211b4b700a0c955fc6e'],
	...['cba5e61472c632438399a96952065b5a', '5d8bf1268445ec479f5f0e651f0452c9'],
	// Chapters and texts.
	...['01cd87f451a9cf118ee600c00c205365', '3326b2758e66cf11a6d900aa0062ce6c'],
	'a946437ce0effc4bb229393ede415c85',
	// Which tracks a player chooses, and how indexes are written.
	...['dc29e2d6da35d111903400a0c90349be', 'cf4986a0754770468a166e35357566cd', '405a46d1795a3843b71be36b8fd6c249'],
	...['5bd1fed4d3884f4581f0ed5c45999e24', 'e60996a67b51d211b6af00c04fd908e9', 'df29e2d6da35d111903400a0c90349be'],
	...['ad3b206b113fe448aca8d7613de2cfa7', '6d495ef597975d4b8c8b604dfe9bfb24', '20deaad9177c9c4fbc288555dd98e2a2'],
]);

/** Other objects that have names. */
const names: ReadonlyMap<string, string> = new Map([
	['301afb1e620bd011a39b00a0c90348f6', 'commands at moments of the film'],
	['fab3112223bdd211b4b700a0c955fc6e', 'a banner'],
	[paddingId, 'padding'],
]);

const headBytes = 24;
const maxTextBytes = 2 ** 20;

/** What the objects of an ASF file (WMV) have that neither ffprobe nor HandBrake reads. Undefined if that can't be known. */
export async function asfObjects(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal, 1_000_000);
	const found = new Findings();
	const xmp = new XmpOfFilm(found);
	const texts = new AsfTexts(found);
	const takeObject = async (id: string, at: number, length: number): Promise<void> => {
		if (encryptions.has(id)) found.isEncrypted = true;
		else if (xmpIds.has(id) && xmp.reads(length)) xmp.take(await scanner.text(at, length));
		else if (texts.isList(id)) {
			if (length > maxTextBytes) found.addUnread('a long list of texts');
			else texts.take(id, await scanner.text(at, length));
		} else if (id === paddingId ? await scanner.takePadding(at, length) : !known.has(id)) {
			found.addUnread(names.get(id) ?? `object ${id.slice(0, 8)}`);
		}
	};
	const walk = async (start: number, stop: number, parent: string): Promise<boolean> => {
		for (let at = start; at + headBytes <= stop; ) {
			if (!(await scanner.mayStep())) return false;
			const head = await scanner.bytes(at, headBytes);
			if (head.length < headBytes) break;
			const id = head.toString('hex', 0, 16);
			const declared = Number(head.readBigUInt64LE(16));
			// A broadcast that was recorded says no length of its film.
			const length = declared < headBytes && id === dataId ? Number.POSITIVE_INFINITY : declared;
			if (length < headBytes) {
				if (await scanner.hasData(at)) found.addUnread('behind its objects');
				return true;
			}
			const end = Math.min(stop, at + length);
			const inner = lists.get(id);
			if (inner?.parent !== parent) await takeObject(id, at + headBytes, end - at - headBytes);
			else if (!(await walk(at + inner.before, end, id))) return false;
			at += length;
		}
		return true;
	};
	return (await walk(0, Number.POSITIVE_INFINITY, theFile)) ? found : undefined;
}

/** `asfObjects` of an open file. */
export const asfObjectsIn = (descriptor: number, signal: AbortSignal) => asfObjects(readerOf(descriptor), signal);
