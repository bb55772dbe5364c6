/** The most pixels of an image that is decoded: four bytes each, and more while it is turned or converted. */
export const maxPixels = 100_000_000;

/** Formats that are decoded at all: by libvips, or HEIC by libheif. */
export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif' | 'heic';

/** The format of an image by its first bytes, whatever its name. */
export function imageFormat(bytes: Buffer): ImageFormat | undefined {
	const latin = (start: number, end: number) => bytes.toString('latin1', start, end);
	if (latin(0, 3) === '\xFF\xD8\xFF') return 'jpeg';
	if (latin(0, 8) === '\x89PNG\r\n\x1a\n') return 'png';
	if (latin(0, 6) === 'GIF87a' || latin(0, 6) === 'GIF89a') return 'gif';
	if (latin(0, 4) === 'RIFF' && latin(8, 12) === 'WEBP') return 'webp';
	if (latin(0, 4) === 'II*\0' || latin(0, 4) === 'MM\0*') return 'tiff';
	if (latin(4, 8) === 'ftyp') return ofBrands(bytes);
	return undefined;
}

/** AVIF and HEIC are the same container; a generic brand is followed by specific ones. */
function ofBrands(bytes: Buffer): 'avif' | 'heic' | undefined {
	const end = Math.min(bytes.readUInt32BE(0), bytes.length, 256);
	const brands = [bytes.toString('latin1', 8, 12)];
	for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString('latin1', at, at + 4));
	if (brands.some((brand) => ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'].includes(brand))) return 'heic';
	if (brands.some((brand) => ['avif', 'avis'].includes(brand))) return 'avif';
	return brands.some((brand) => ['mif1', 'msf1'].includes(brand)) ? 'heic' : undefined;
}
