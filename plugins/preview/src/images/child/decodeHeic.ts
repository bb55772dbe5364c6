import sharp, { type Sharp } from 'sharp';
import { maxPixels } from './imageFormat.js';

async function load() {
	const { default: library } = await import('libheif-js/wasm-bundle.js');
	return { library, decoder: new library.HeifDecoder() };
}

let loaded: ReturnType<typeof load> | undefined;

/** The main picture of a HEIC file as pixels, rotated and cropped by its properties. */
export async function decodeHeic(bytes: Buffer): Promise<Sharp> {
	// Loaded with the first such file: it is several megabytes of WebAssembly.
	loaded ??= load();
	const { library, decoder } = await loaded;
	const images = decoder.decode(bytes);
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
		// With its copy of the file. Nothing else frees it but the next file of the same decoder, and the memory of WebAssembly never shrinks.
		if (decoder.decoder !== null) library.heif_context_free(decoder.decoder);
		decoder.decoder = null;
	}
}
