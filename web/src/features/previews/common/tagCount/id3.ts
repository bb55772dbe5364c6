import type { TagReader } from './TagReader.js';

/** Counts the frames of the ID3v2 tags that begin here; resolves to what is behind them. */
export async function countId3(reader: TagReader, begin: number): Promise<number> {
	let at = begin;
	while ((await reader.text(at, 3)) === 'ID3') {
		reader.add();
		const head = await reader.view(at, 14);
		const version = head.getUint8(3);
		const flags = head.getUint8(5);
		const end = at + 10 + syncSafe(head.getUint32(6));
		const extended = version < 3 || (flags & 0x40) === 0 ? 0 : head.getUint32(10);
		await countFrames(
			reader,
			version,
			at + 10 + (version === 3 && extended > 0 ? extended + 4 : syncSafe(extended)),
			end,
		);
		at = end + ((flags & 0x10) !== 0 ? 10 : 0);
	}
	return at;
}

async function countFrames(reader: TagReader, version: number, begin: number, end: number): Promise<void> {
	const headLength = version === 2 ? 6 : 10;
	for (let at = begin; at + headLength < end; ) {
		if (!(await isFrame(reader, version, at))) return;
		reader.add();
		const head = await reader.view(at, headLength);
		const raw = version === 2 ? head.getUint32(2) & 0xff_ff_ff : head.getUint32(4);
		const next = at + headLength + (version === 4 ? syncSafe(raw) : raw);
		// Programs write such a length also where the format has another one, as all know that read it.
		const isRaw =
			version === 4 && next < end && !(await isFrame(reader, version, next)) && !(await isPadding(reader, next));
		at = isRaw ? at + headLength + raw : next;
	}
}

const isFrame = async (reader: TagReader, version: number, at: number) =>
	/^[A-Z0-9]+$/.test(await reader.text(at, version === 2 ? 3 : 4));

const isPadding = async (reader: TagReader, at: number) => (await reader.text(at, 1)) === '\0';

/** Seven bits of each byte. */
const syncSafe = (value: number) =>
	((value >>> 3) & 0x0f_e0_00_00) | ((value >>> 2) & 0x1f_c0_00) | ((value >>> 1) & 0x3f_80) | (value & 0x7f);

/** Counts what an APE tag at the end says that it has. */
export async function countApe(reader: TagReader): Promise<void> {
	for (const behind of [32, 160]) {
		const at = Math.max(0, reader.size - behind);
		if ((await reader.text(at, 8)) === 'APETAGEX') reader.add((await reader.view(at + 16, 4)).getUint32(0, true));
	}
}
