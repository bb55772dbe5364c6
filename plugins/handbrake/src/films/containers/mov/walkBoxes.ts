import type { ReadAt } from '../reading/readAt.js';

/** A box of an MP4, whose content begins with a version if it is a header or a table. */
export interface VersionedBox {
	name: string;
	content: number;
	end: number;
	version: number;
}

/** What HandBrake writes has some dozen of them before the film, and for each track. */
const maxBoxes = 10_000;

/** The boxes of an MP4 that HandBrake has made, in their order, and those in `lists` behind the box that they are in. */
export async function* walkBoxes(readAt: ReadAt, lists: ReadonlySet<string>): AsyncGenerator<VersionedBox> {
	for (let at = 0, count = 0; Number.isSafeInteger(at) && count < maxBoxes; count++) {
		const head = Buffer.from(await readAt(at, 17));
		if (head.length < 17) return;
		const name = head.toString('latin1', 4, 8);
		const isLong = head.readUInt32BE() === 1;
		const length = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE();
		const headLength = isLong ? 16 : 8;
		if (length < headLength) return;
		yield { name, content: at + headLength, end: at + length, version: head[headLength] ?? 0 };
		at += lists.has(name) ? headLength : length;
	}
}
