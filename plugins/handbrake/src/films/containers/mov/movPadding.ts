import type { Scanner } from '../reading/scanner.js';

const padding: ReadonlySet<string> = new Set(['free', 'skip', 'wide']);

/** Whether boxes of this name are padding. Some cameras put their data there, so that other programs pass over it. */
export const isPadding = (name: string) => padding.has(name);

/** Of an index that was written anew elsewhere, as when tags were added, and whose place was declared to be free. */
const remains: ReadonlySet<string> = new Set(['mvhd', 'trak', 'udta', 'tkhd', 'meta', 'ilst', 'hdlr']);

/** Looks through the content of such a box. Resolves to whether it has data. */
export async function takePaddingBox(scanner: Scanner, from: number, to: number): Promise<boolean> {
	const name = (await scanner.bytes(from + 4, 4)).toString('latin1');
	return !remains.has(name) && (await scanner.takePadding(from, to - from));
}
