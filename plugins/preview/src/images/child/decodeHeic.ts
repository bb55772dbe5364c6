import sharp, { type Sharp } from 'sharp';
import { maxPixels } from './imageFormat.js';

type Library = typeof import('libheif-js/wasm-bundle.js').default;

let library: Promise<Library> | undefined;

/** The main picture of a HEIC file as pixels, rotated and cropped by its properties. */
export async function decodeHeic(bytes: Buffer): Promise<Sharp> {
	// Loaded with the first such file: it is several megabytes of WebAssembly.
	library ??= import('libheif-js/wasm-bundle.js').then((module) => module.default);
	const { HeifDecoder } = await library;
	const images = new HeifDecoder().decode(bytes);
	try {
		const image = images.find((each) => each.is_primary()) ?? images[0];
		if (image === undefined) throw new Error('The file holds no image.');
		const [width, height] = [image.get_width(), image.get_height()];
		if (width * height > maxPixels) throw new Error('The image is too large.');
		const target = { data: new Uint8ClampedArray(width * height * 4), width, height };
		const shown = await new Promise<{ data: Uint8ClampedArray<ArrayBuffer> } | null>((resolve) =>
			image.display(target, resolve),
		);
		if (shown === null) throw new Error('The image can not be decoded.');
		return sharp(shown.data, { raw: { width, height, channels: 4 }, limitInputPixels: maxPixels });
	} finally {
		for (const image of images) image.free();
	}
}
