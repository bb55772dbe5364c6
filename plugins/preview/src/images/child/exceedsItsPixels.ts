import { type ImageFormat, maxPixels } from './imageFormat.js';

interface Box {
	type: string;
	/** The offsets of its content. */
	start: number;
	end: number;
}

/** What is known of the items of a file, by their ids. */
interface Items {
	properties: ReadonlyMap<number, readonly number[]>;
	/** The parts of those that are made of others; one may be there several times. */
	parts: ReadonlyMap<number, readonly number[]>;
}

/** An image is turned once, mirrored once and cropped once. */
const maxTransforms = 4;

/** The parts of a grid cover it, and may reach beyond its edges. Small ones may be any number. */
const maxTimes = 3;
const alwaysDecoded = 2 ** 24;

/**
 * Whether a HEIC or AVIF file has more decoded, or turned, than the pixels that it has at the end: 256 parts of a grid
 * may be the same large picture (2 kB: more than 40 s), and an image may be turned 250 times (1.4 kB: more than 20 s).
 * The library compares the size that an item says with the decoded one. Linear in the length of the file.
 */
export function exceedsItsPixels(bytes: Buffer, format: ImageFormat): boolean {
	if (format !== 'avif' && format !== 'heic') return false;
	const metas = boxes(bytes, 0, bytes.length).filter(({ type }) => type === 'meta');
	const inMeta = metas.flatMap(({ start, end }) => boxes(bytes, start + 4, end));
	const tables = inMeta.filter(({ type }) => type === 'iprp').flatMap(({ start, end }) => boxes(bytes, start, end));
	const of = (type: string, list: readonly Box[]) => list.filter((box) => box.type === type);
	const [containers, references] = [of('ipco', tables), of('iref', inMeta)];
	// Which of several ones is meant is not known, and no program writes them.
	if (metas.length > 1 || containers.length > 1 || references.length > 1) return true;
	const properties = containers.flatMap(({ start, end }) => boxes(bytes, start, end));
	const items: Items = {
		properties: byId(of('ipma', tables).flatMap((box) => [...associations(bytes, box)])),
		parts: byId(references.flatMap((box) => [...partsOf(bytes, box)])),
	};
	for (const named of items.properties.values()) {
		const transforms = named.filter((index) => /^(?:irot|imir|clap|iscl)$/.test(properties[index - 1]?.type ?? ''));
		if (transforms.length > maxTransforms) return true;
	}
	return areLarger(items, (index) => sizeOf(bytes, properties[index - 1]));
}

/** Whether the parts of any item have more pixels than it may have; also where they can't be known, such as of an item within itself. */
function areLarger({ properties, parts }: Items, pixelsBy: (property: number) => number | undefined): boolean {
	const ownPixels = (id: number) =>
		properties.get(id)?.reduce<number | undefined>((found, index) => found ?? pixelsBy(index), undefined);
	const costs = new Map<number, number>();
	const costOf = (id: number, depth: number): number => {
		const known = costs.get(id);
		if (known !== undefined) return known;
		// What it is meanwhile, for an item within itself.
		costs.set(id, Number.POSITIVE_INFINITY);
		if (depth === 0) return Number.POSITIVE_INFINITY;
		const partCosts = (parts.get(id) ?? []).map((part) => costOf(part, depth - 1));
		const sum = partCosts.reduce((total, each) => total + each, 0);
		// One of unknown size counts as the largest; an image that is made of two others for wide colours may have none of its own.
		const own = Math.min(ownPixels(id) ?? partCosts[0] ?? Number.POSITIVE_INFINITY, maxPixels);
		const cost = sum > maxTimes * own + alwaysDecoded ? Number.POSITIVE_INFINITY : own + sum;
		costs.set(id, cost);
		return cost;
	};
	return [...parts.keys()].some((id) => costOf(id, maxDepth) === Number.POSITIVE_INFINITY);
}

/** The library allows no more kinds of items that are made of others, each of them once. */
const maxDepth = 8;

/** An item may be named several times: all of it counts. */
function byId(named: readonly (readonly [number, number[]])[]): Map<number, number[]> {
	const found = new Map<number, number[]>();
	for (const [id, list] of named) {
		const known = found.get(id);
		if (known === undefined) found.set(id, list);
		else for (const each of list) known.push(each);
	}
	return found;
}

function boxes(bytes: Buffer, start: number, end: number): Box[] {
	const found: Box[] = [];
	for (let at = start; at + 8 <= end; ) {
		const short = bytes.readUInt32BE(at);
		const isLong = short === 1 && at + 16 <= end;
		const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short || end - at;
		const header = isLong ? 16 : 8;
		const next = Math.min(at + Math.max(length, header), end);
		found.push({ type: bytes.toString('latin1', at + 4, at + 8), start: at + header, end: next });
		at = next;
	}
	return found;
}

/** Which properties each item has, by their places among all. */
function* associations(bytes: Buffer, { start, end }: Box): Generator<[number, number[]]> {
	if (start + 8 > end) return;
	const idBytes = bytes[start] === 0 ? 2 : 4;
	const isWide = ((bytes[start + 3] ?? 0) & 1) === 1;
	const width = isWide ? 2 : 1;
	for (let at = start + 8; at + idBytes < end; ) {
		const id = bytes.readUIntBE(at, idBytes);
		const list = at + idBytes + 1;
		const next = list + (bytes[list - 1] ?? 0) * width;
		const named: number[] = [];
		// The highest bit says whether the property is essential.
		for (let each = list; each < next && each + width <= end; each += width)
			named.push(bytes.readUIntBE(each, width) & (isWide ? 0x7fff : 0x7f));
		yield [id, named];
		at = next;
	}
}

function* partsOf(bytes: Buffer, { start, end }: Box): Generator<[number, number[]]> {
	if (start + 4 > end) return;
	const idBytes = bytes[start] === 0 ? 2 : 4;
	for (const { type, start: at, end: next } of boxes(bytes, start + 4, end)) {
		if (type !== 'dimg' || at + idBytes + 2 > next) continue;
		const named: number[] = [];
		const count = bytes.readUInt16BE(at + idBytes);
		for (let n = 0, each = at + idBytes + 2; n < count && each + idBytes <= next; n++, each += idBytes)
			named.push(bytes.readUIntBE(each, idBytes));
		yield [bytes.readUIntBE(at, idBytes), named];
	}
}

/** The pixels that a property of sizes says; undefined for any other one. */
function sizeOf(bytes: Buffer, property: Box | undefined): number | undefined {
	if (property?.type !== 'ispe' || property.start + 12 > property.end) return undefined;
	return bytes.readUInt32BE(property.start + 4) * bytes.readUInt32BE(property.start + 8);
}
