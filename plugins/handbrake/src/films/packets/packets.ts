export interface Packet {
	index: number;
	/** When it is shown, in seconds; undefined if unknown. */
	time: number | undefined;
	/** When it is decoded, in seconds; NaN if unknown. */
	decodedAt: number;
	/** Its duration in seconds; 0 if unknown. */
	lasts: number;
	size: number;
	/** Its offset in the file; undefined if unknown. */
	position: number | undefined;
	/** Whether decoders need it only for others. */
	isDiscarded: boolean;
}

/** The length of no text. */
export const emptyTextBytes = 2;

/** The most bytes of a packet of PGS or DVB that clears the screen: the size of the screen and of two windows, and no picture. */
export const clearingBytes = 40;

/**
 * A line of ffprobe such as `0,1.200000,1.160000,0.040000,417,48,K_`, with more behind another comma, and `N/A` for what is unknown.
 * Undefined for any other one.
 */
export function parsePacket(line: string): Packet | undefined {
	const [index = '', shownAt, decodedAt, lasts, size, position, flags = ''] = line.split(',', 7);
	if (!/^\d+$/.test(index) || !/^[A-Z_]/.test(flags)) return undefined;
	const time = Number(shownAt === 'N/A' ? decodedAt : shownAt);
	return {
		index: Number(index),
		time: Number.isFinite(time) ? time : undefined,
		decodedAt: Number(decodedAt),
		lasts: Number(lasts) || 0,
		size: Number(size) || 0,
		position: Number(position) >= 0 ? Number(position) : undefined,
		isDiscarded: flags.includes('D'),
	};
}
