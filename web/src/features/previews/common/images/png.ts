import { maxSteps } from './steps.js';

const iCCP = 0x69434350;
const acTL = 0x6163544c;
const IDAT = 0x49444154;

export interface PngBeginning {
	/** Whether it is animated, or may be, since what comes before the picture does not end in these bytes. */
	isAnimated: boolean;
	/** Whether more comes before the picture than any program writes. */
	isEndless: boolean;
	/** Where the contents of colour profiles are. */
	profiles: readonly { start: number; end: number }[];
}

/** What comes before the pixels of a PNG, behind which no browser reads a profile. Of several profiles two are named. */
export function readPngBeginning(bytes: Uint8Array): PngBeginning {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const profiles: { start: number; end: number }[] = [];
	let isAnimated: boolean | undefined;
	let steps = 0;
	for (let at = 8; at + 8 <= bytes.length; at += 12 + view.getUint32(at)) {
		const name = view.getUint32(at + 4);
		if (name === IDAT) return { isAnimated: isAnimated ?? false, isEndless: false, profiles };
		if (name === acTL) isAnimated = true;
		if (name === iCCP && profiles.length < 2) profiles.push({ start: at + 8, end: at + 8 + view.getUint32(at) });
		if (++steps > maxSteps) return { isAnimated: true, isEndless: true, profiles };
	}
	return { isAnimated: true, isEndless: false, profiles };
}
