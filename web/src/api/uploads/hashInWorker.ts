import type { HashResult, HashTask } from './hashWorker.js';
import { UnreadableFile, UploadNetworkFailure } from './uploadFailures.js';

/** The SHA-256 of a piece, or of a whole small file, in base64. Throws `UnreadableFile` when the file has changed or gone. */
export type HashPiece = (piece: Blob) => Promise<string>;

interface Waiting {
	resolve: (digest: string) => void;
	reject: (error: Error) => void;
}

const waiting = new Map<number, Waiting>();
let worker: Worker | undefined;
let nextId = 1;

/** Computed by one worker that stays for the page. */
export const hashInWorker: HashPiece = (piece) =>
	new Promise((resolve, reject) => {
		const id = nextId++;
		waiting.set(id, { resolve, reject });
		worker ??= startWorker();
		worker.postMessage({ id, piece } satisfies HashTask);
	});

function startWorker(): Worker {
	const started = new Worker(new URL('./hashWorker.ts', import.meta.url), { type: 'module' });
	started.onmessage = ({ data }: MessageEvent<HashResult>) => {
		const asked = waiting.get(data.id);
		waiting.delete(data.id);
		if ('digest' in data) asked?.resolve(data.digest);
		else asked?.reject(new UnreadableFile(data.reason));
	};
	started.onerror = () => {
		// Its script could not be fetched: the connection is lost, and the next try asks for it again.
		worker = undefined;
		for (const { reject } of waiting.values()) reject(new UploadNetworkFailure());
		waiting.clear();
	};
	return started;
}
