import { mayTakeLong, takesLong } from './decodingCost.js';
import { describeImage, undrawnType } from './imageFormat.js';
import { pixelsOfMetadata } from './metadata.js';

/** The most pixels of a picture that the page shows by itself: decoded they take four bytes each of its memory. */
export const maxPixels = 100_000_000;

/**
 * The number of pixels of a picture by its first bytes, or by all of one that `mayTakeLong`, with those that its metadata
 * counts for. Infinite if they don't say it, and for a picture that has too many frames or scans.
 */
export function pixelsOf(bytes: Uint8Array): number {
	const { type, width, height } = describeImage(bytes);
	const isKnown = type !== undefined && type !== undrawnType && width > 0 && height > 0 && !takesLong(bytes);
	return isKnown ? width * height + pixelsOfMetadata(bytes, type, maxPixels) : Number.POSITIVE_INFINITY;
}

/**
 * The number of pixels of a picture in a `data:` address, infinite for any other one. As much of its beginning is read
 * as has its size, also behind a colour profile; of one that `mayTakeLong` all.
 */
export function pixelsOfAddress(address: string): number {
	const [beginning = '', scheme = ''] = /^(data:[^,]{0,200};base64,)[\w+/%\s]{0,400000}/i.exec(address) ?? [];
	if (beginning === '') return Number.POSITIVE_INFINITY;
	const head = bytesOfBase64(beginning.slice(scheme.length));
	if (!mayTakeLong(head)) return pixelsOf(head);
	const [whole = ''] = /^[\w+/%\s]*/.exec(address.slice(scheme.length)) ?? [];
	return pixelsOf(bytesOfBase64(whole));
}

/** Decodes base64 as browsers do, which decode percent signs first. Empty for what is not base64. */
export function bytesOfBase64(text: string): Uint8Array {
	const base64 = text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	const [plain = ''] = /^[\w+/]*/.exec(base64.replaceAll(/\s/g, '')) ?? [];
	if (plain.includes('_')) return new Uint8Array();
	const characters = atob(plain.slice(0, plain.length - (plain.length % 4)));
	return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
