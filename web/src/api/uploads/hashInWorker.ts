import type { HashResult, HashTask } from './hashWorker.js';
import { UnreadableFile, UploadNetworkFailure } from './uploadFailures.js';

/** The SHA-256 of a chunk or of a whole small file, in base64. Throws `UnreadableFile` when the file was changed or removed. */
export type HashBlob = (blob: Blob) => Promise<string>;

interface PendingHash {
	resolve: (digest: string) => void;
	reject: (error: Error) => void;
}

const pending = new Map<number, PendingHash>();
let worker: Worker | undefined;
let nextId = 1;

/** Hashes in a worker, of which one serves the whole page. */
export const hashInWorker: HashBlob = (blob) =>
	new Promise((resolve, reject) => {
		const id = nextId++;
		pending.set(id, { resolve, reject });
		worker ??= startWorker();
		worker.postMessage({ id, blob } satisfies HashTask);
	});

function startWorker(): Worker {
	const started = new Worker(new URL('./hashWorker.ts', import.meta.url), { type: 'module' });
	started.onmessage = ({ data }: MessageEvent<HashResult>) => {
		const request = pending.get(data.id);
		pending.delete(data.id);
		if ('digest' in data) request?.resolve(data.digest);
		else request?.reject(new UnreadableFile(data.reason));
	};
	started.onerror = () => {
		// Its script could not be fetched, so the connection is lost. The next attempt starts a new worker.
		worker = undefined;
		for (const { reject } of pending.values()) reject(new UploadNetworkFailure());
		pending.clear();
	};
	return started;
}
