import type { TagReader } from './TagReader.js';
import { countValues, findZero } from './values.js';

/** Counts the frames of the ID3v2 tags that begin here; resolves to what is behind them. */
export async function countId3(reader: TagReader, begin: number): Promise<number> {
	let at = begin;
	while ((await reader.text(at, 3)) === 'ID3') {
		reader.add();
		const head = await reader.view(at, 14);
		const version = head.getUint8(3);
		const flags = head.getUint8(5);
		const end = at + 10 + syncSafe(head.getUint32(6));
		const isExtended = version > 2 && (flags & 0x40) !== 0;
		for (const length of isExtended ? extendedLengths(head.getUint32(10)) : [0])
			await countFrames(reader, version, at + 10 + length, end);
		at = end + ((flags & 0x10) !== 0 ? 10 : 0);
	}
	return at;
}

/** Programs differ in whether the length has bits of 7 or 8, and is of itself, too. */
const extendedLengths = (raw: number): Iterable<number> => new Set([raw, raw + 4, syncSafe(raw), syncSafe(raw) + 4]);

async function countFrames(reader: TagReader, version: number, begin: number, end: number): Promise<void> {
	const headLength = version === 2 ? 6 : 10;
	for (let at = begin; at + headLength < end; ) {
		// Only a zero ends them: what has no valid name is left out, and what follows is read.
		if (at >= reader.size || (await isPadding(reader, at))) return;
		reader.add();
		const name = await reader.text(at, version === 2 ? 3 : 4);
		const head = await reader.view(at, headLength);
		const raw = version === 2 ? head.getUint32(2) & 0xff_ff_ff : head.getUint32(4);
		const next = at + headLength + (version === 4 ? syncSafe(raw) : raw);
		// Programs write such a length also where the format has another one, as browsers know, but not all that read it.
		const isRaw =
			version === 4 && next < end && !(await isFrame(reader, version, next)) && !(await isPadding(reader, next));
		if (isRaw) await countFrames(reader, version, next, end);
		const content = at + headLength;
		at = isRaw ? content + raw : next;
		await countWithin(reader, version, name, content, Math.min(end, at));
	}
}

/** Counts the values of a text, and the frames of a chapter. */
async function countWithin(
	reader: TagReader,
	version: number,
	name: string,
	begin: number,
	end: number,
): Promise<void> {
	if (name === 'CHAP') await countFrames(reader, version, (await findZero(reader, begin, end)) + 17, end);
	else if (name === 'CTOC') await countContents(reader, version, begin, end);
	else if (/^(?:T|IPLS|GRP1|GP1|MV)/.test(name)) {
		const encoding = (await reader.view(begin, 1)).getUint8(0);
		await countValues(reader, begin + 1, end, encoding === 1 || encoding === 2 ? 2 : 1);
	}
}

/** Counts the frames of a table of contents, which come behind the names of the chapters, each ended by a zero. */
async function countContents(reader: TagReader, version: number, begin: number, end: number): Promise<void> {
	const head = await findZero(reader, begin, end);
	let at = head + 3;
	for (let left = (await reader.view(head + 2, 1)).getUint8(0); left > 0; left--) {
		at = (await findZero(reader, at, end)) + 1;
	}
	await countFrames(reader, version, at, end);
}

const isFrame = async (reader: TagReader, version: number, at: number) =>
	/^[A-Z0-9]+$/.test(await reader.text(at, version === 2 ? 3 : 4));

const isPadding = async (reader: TagReader, at: number) => (await reader.text(at, 1)) === '\0';

/** Seven bits of each byte. */
const syncSafe = (value: number) =>
	((value >>> 3) & 0x0f_e0_00_00) | ((value >>> 2) & 0x1f_c0_00) | ((value >>> 1) & 0x3f_80) | (value & 0x7f);
