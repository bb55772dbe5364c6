import { maxSteps } from './steps.js';

/**
 * The largest of its parts, since a grid of smaller ones has a size, too, and of its tracks. It is unknown unless all
 * of the boxes that may have one are there.
 */
export function avifSize(head: Uint8Array, view: DataView): { width: number; height: number } {
	const found = { width: 0, height: 0 };
	const isSequence = head[11] === 0x73;
	const wanted = isSequence ? ['meta', 'moov'] : ['meta'];
	const typeAt = (at: number) => String.fromCharCode(...head.subarray(at + 4, at + 8));
	let steps = 0;
	for (let at = 0; wanted.length > 0; ) {
		if (at + 8 > head.length || ++steps > maxSteps) return { width: 0, height: 0 };
		const length = view.getUint32(at);
		const end = at + length;
		const place = wanted.indexOf(typeAt(at));
		if (length < 8 || (place !== -1 && end > head.length)) return { width: 0, height: 0 };
		if (place !== -1) {
			wanted.splice(place, 1);
			addSizes(view, at, end, found);
		}
		at = end;
	}
	return found;
}

const [ispe, tkhd] = [0x69737065, 0x746b6864];

/** The sizes of pictures and tracks that are named anywhere between two places. */
function addSizes(view: DataView, start: number, end: number, found: { width: number; height: number }): void {
	const add = (width: number, height: number) => {
		found.width = Math.max(found.width, width);
		found.height = Math.max(found.height, height);
	};
	for (let at = start; at + 16 <= end; at++) {
		const type = view.getUint32(at);
		if (type === ispe) add(view.getUint32(at + 8), view.getUint32(at + 12));
		else if (type === tkhd) {
			// Behind the times, whose lengths depend on the version; with a fraction of 16 bits.
			const from = at + (view.getUint8(at + 4) === 1 ? 92 : 80);
			if (from + 8 <= end) add(view.getUint16(from), view.getUint16(from + 4));
		}
	}
}

/**
 * The most that the tracks of a sequence may have, by their tables: each chunk as many as the largest one. Endless for one of too many
 * boxes.
 */
export function avifFrames(view: DataView): number {
	const tables: Tables = { sizes: 0, chunks: 0, largest: 0 };
	const left = { steps: maxSteps };
	for (const { name, start, end } of boxesIn(view, 0, view.byteLength, left)) {
		if (name === 'moov') addTables(view, start, end, tables, left);
	}
	if (left.steps <= 0) return Number.POSITIVE_INFINITY;
	return Math.max(tables.sizes, tables.chunks * tables.largest);
}

interface Tables {
	sizes: number;
	chunks: number;
	/** The number of frames of the largest chunk. */
	largest: number;
}

/** The boxes within each other, the last of which has the tables. */
const containers: readonly string[] = ['trak', 'mdia', 'minf', 'stbl'];

function addTables(view: DataView, start: number, end: number, tables: Tables, left: StepsLeft, level = 0): void {
	for (const box of boxesIn(view, start, end, left)) {
		if (box.name === containers[level]) addTables(view, box.start, box.end, tables, left, level + 1);
		// As many as there may be.
		if (box.name === '') tables.sizes = Number.POSITIVE_INFINITY;
		const number = (at: number) => (box.start + at + 4 <= box.end ? view.getUint32(box.start + at) : 0);
		if (box.name === 'stsz' || box.name === 'stz2') tables.sizes += number(8);
		if (box.name === 'stco' || box.name === 'co64') tables.chunks += number(4);
		if (box.name !== 'stsc') continue;
		for (let at = 8; box.start + at + 12 <= box.end; at += 12)
			tables.largest = Math.max(tables.largest, number(at + 4));
	}
}

interface Box {
	name: string;
	start: number;
	end: number;
}

interface StepsLeft {
	steps: number;
}

/** The boxes between two places, up to one whose length has another form, which has no name here. */
function* boxesIn(view: DataView, start: number, end: number, left: StepsLeft): Generator<Box> {
	for (let at = start; at + 8 <= end && left.steps > 0; at += view.getUint32(at)) {
		left.steps--;
		const length = view.getUint32(at);
		const name = length < 8 ? '' : String.fromCharCode(...[4, 5, 6, 7].map((place) => view.getUint8(at + place)));
		yield { name, start: at + 8, end: Math.min(at + length, end) };
		if (length < 8) return;
	}
}
