import { sniffedBytes } from '@stowage/rules';
import { runInWorker, WorkerNotLoaded } from '../bytes/runInWorker.js';
import { type Picture, pictureIn } from './picture.js';

/**
 * What is known of a picture by its first bytes, or by all of them. More than the first ones are read in a worker: somebody else
 * has written them, and they may take seconds. Without its answer it is not known how large the picture is.
 */
export async function readPicture(bytes: Uint8Array, signal: AbortSignal): Promise<Picture> {
	const head = bytes.subarray(0, sniffedBytes);
	if (bytes.length === head.length) return pictureIn(head);
	const worker = new Worker(new URL('./pictureWorker.ts', import.meta.url), { type: 'module' });
	const read = await runInWorker<Picture>(worker, bytes, signal).catch((error) => {
		// The page looks for its new version, and the server draws the picture meanwhile, or nobody.
		if (error instanceof WorkerNotLoaded) return undefined;
		throw error;
	});
	return read ?? { ...pictureIn(head), pixels: Number.POSITIVE_INFINITY };
}
