import type { TagReader } from './TagReader.js';

const segment = 0x18_53_80_67;
const cluster = 0x1f_43_b6_75;
const seek = 0x4d_bb;
const tags = 0x12_54_c3_67;

/** Segment, SeekHead, Tags, Tag, SimpleTag, Chapters, EditionEntry, ChapterAtom. */
const containers: ReadonlySet<number> = new Set([
	...[segment, 0x11_4d_9b_74, tags, 0x73_73, 0x67_c8, 0x10_43_a7_70, 0x45_b9, 0xb6],
]);

interface Element {
	id: number;
	/** The offsets of its content. */
	begin: number;
	end: number;
}

/**
 * Counts the elements of a Matroska or WebM file in which tags and chapters are: up to the film, and where its list
 * says that they are.
 */
export async function countElements(reader: TagReader): Promise<void> {
	const header = await elementAt(reader, 0, reader.size);
	const body = header && (await elementAt(reader, header.end, reader.size));
	if (body?.id !== segment) return;
	const known = new Set<number>();
	const later: number[] = [];
	await countWithin(reader, body, async ({ id, begin, end }, at) => {
		known.add(at);
		if (id !== seek) return;
		const place = await positionIn(reader, begin, end);
		if (place !== undefined) later.push(body.begin + place);
	});
	for (const at of later) {
		const element = known.has(at) ? undefined : await elementAt(reader, at, body.end);
		known.add(at);
		if (element !== undefined && containers.has(element.id)) await countWithin(reader, element);
	}
}

async function countWithin(
	reader: TagReader,
	parent: Element,
	visit: (element: Element, at: number) => Promise<void> = async () => {},
): Promise<void> {
	for (let at = parent.begin; at < parent.end; ) {
		const element = await elementAt(reader, at, parent.end);
		if (element === undefined || element.id === cluster) return;
		reader.add(isCounted(element.id) ? 1 : 0.1);
		await visit(element, at);
		if (containers.has(element.id)) await countWithin(reader, element, visit);
		at = element.end;
	}
}

/** Whether an element counts in full. Honest files have more of the others, but no reader compares each with all. */
const isCounted = (id: number) => id === 0x67_c8 || id === 0xb6 || id === seek;

async function elementAt(reader: TagReader, at: number, end: number): Promise<Element | undefined> {
	const head = await reader.bytes(at, 12);
	const idLength = Math.clz32(head[0] ?? 0) - 23;
	const lengthLength = Math.clz32(head[idLength] ?? 0) - 23;
	if (idLength > 4 || lengthLength > 8) return undefined;
	const id = numberIn(head.subarray(0, idLength));
	const marked = head.subarray(idLength, idLength + lengthLength);
	const begin = at + idLength + lengthLength;
	const bits = numberIn(marked) - 2 ** (7 * lengthLength);
	// All ones: until its parent ends.
	const isEndless = bits === 2 ** (7 * lengthLength) - 1;
	return { id, begin, end: isEndless ? end : Math.min(end, begin + bits) };
}

/** The offset of the element that an entry of the list is about; undefined for an entry without one. */
async function positionIn(reader: TagReader, begin: number, end: number): Promise<number | undefined> {
	for (let at = begin; at < end; ) {
		const element = await elementAt(reader, at, end);
		if (element === undefined) return undefined;
		reader.add(0.1);
		if (element.id === 0x53_ac)
			return numberIn(await reader.bytes(element.begin, Math.min(8, element.end - element.begin)));
		at = element.end;
	}
	return undefined;
}

const numberIn = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);
