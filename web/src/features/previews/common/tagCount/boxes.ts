import { SampleTables } from './SampleTables.js';
import type { TagReader } from './TagReader.js';

/** Boxes that contain tags or tables of samples, wherever in a file a browser finds them. */
const containers: ReadonlySet<string> = new Set([
	...['moov', 'trak', 'udta', 'meta', 'ilst'],
	...['mdia', 'minf', 'stbl', 'edts', 'dinf', 'tref', 'wave', 'mvex', 'moof', 'traf'],
]);

/** Boxes of a fragmented film. A browser would read a further track in any fragment. */
const fragments: ReadonlySet<string> = new Set([
	...['moof', 'mfhd', 'traf', 'tfhd', 'tfdt', 'trun', 'mdat', 'sidx', 'styp', 'emsg', 'prft', 'sgpd', 'sbgp', 'senc'],
	...['saiz', 'saio', 'uuid', 'subs'],
]);

/**
 * A film whose tables were counted, and that goes on with so many fragments, may have thousands of them, each of which
 * is another request: its player need not wait for the last one.
 */
const fragmentsOfFilm = 32;

/** No film has more of them within each other. */
const maxDepth = 20;

/**
 * Counts the boxes of an MP4 or QuickTime file in which tags may be, and the samples of its tracks, up to its end: a browser reads all of
 * them. In a list of tags, each may have any number of values.
 */
export async function countBoxes(reader: TagReader, begin: number, end: number): Promise<void> {
	const tables = new SampleTables(reader);
	await countWithin(reader, begin, end, { isList: false, depth: 0, tables });
	tables.count();
}

interface Parent {
	isList: boolean;
	depth: number;
	/** The tables of the track in which the boxes are. */
	tables: SampleTables;
}

async function countWithin(reader: TagReader, begin: number, end: number, parent: Parent): Promise<void> {
	const depth = parent.depth + 1;
	let hasFilm = false;
	let fragmentsSeen = 0;
	for (let at = begin; at + 8 <= end; ) {
		const head = await reader.view(at, 16);
		const name = await reader.text(at + 4, 4);
		// Of fragments there are more in an honest film, and nothing is compared with all of them.
		reader.add(!parent.isList && fragments.has(name) ? 0.1 : 1);
		hasFilm ||= name === 'moov';
		if (hasFilm && name === 'moof' && ++fragmentsSeen === fragmentsOfFilm) reader.onFragments();
		const short = head.getUint32(0);
		const headLength = short === 1 ? 16 : 8;
		const length = short === 1 ? Number(head.getBigUint64(8)) : short === 0 ? end - at : short;
		if (length < headLength) return;
		const boxEnd = Math.min(end, at + length);
		const content = at + headLength;
		if (parent.isList || containers.has(name) || (await isHiddenFilm(reader, name, content))) {
			if (depth > maxDepth) reader.add(Number.POSITIVE_INFINITY);
			const first = content + (await versionLength(reader, name, at));
			const tables = name === 'trak' ? new SampleTables(reader) : parent.tables;
			await countWithin(reader, first, boxEnd, { isList: name === 'ilst', depth, tables });
			if (name === 'trak') tables.count();
		} else await parent.tables.read(name, content, boxEnd);
		at += length;
	}
}

/** A browser reads a film that is called free space as one. */
async function isHiddenFilm(reader: TagReader, name: string, content: number): Promise<boolean> {
	if (name !== 'free' && name !== 'hoov') return false;
	return /^(?:mvhd|cmov)$/.test(await reader.text(content + 4, 4));
}

/** QuickTime's own has no version before its boxes. */
async function versionLength(reader: TagReader, name: string, at: number): Promise<number> {
	return name === 'meta' && (await reader.text(at + 12, 4)) !== 'hdlr' ? 4 : 0;
}
