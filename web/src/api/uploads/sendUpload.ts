import { UploadNetworkFailure } from './uploadFailures.js';

export interface UploadRequest {
	method: 'POST' | 'PATCH' | 'HEAD' | 'DELETE';
	url: string;
	headers: Readonly<Record<string, string>>;
	body?: Blob | FormData;
	onProgress?: (sent: number, total: number) => void;
	signal: AbortSignal;
}

export interface UploadAnswer {
	status: number;
	header: (name: string) => string | null;
	/** Parsed JSON, or undefined. */
	body: unknown;
}

export type SendUpload = (request: UploadRequest) => Promise<UploadAnswer>;

/** A connection on which nothing moves for so long is taken for lost, as after a change of the network. */
const stalledMilliseconds = 45_000;
/** How long the server may take for its answer: storing a large file may cost a slow disk minutes. */
const answerMilliseconds = { POST: 300_000, PATCH: 300_000, HEAD: 30_000, DELETE: 30_000 } as const;

/**
 * Makes one request and answers whatever the server says. Throws `UploadNetworkFailure` when there is no answer.
 * XMLHttpRequest, since fetch doesn't tell how much was sent.
 */
export const sendUpload: SendUpload = ({ method, url, headers, body, onProgress, signal }) =>
	new Promise((resolve, reject) => {
		if (signal.aborted) return reject(signal.reason);
		const request = new XMLHttpRequest();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const waitAtMost = (milliseconds: number) => {
			clearTimeout(timer);
			timer = setTimeout(() => {
				lost();
				request.abort();
			}, milliseconds);
		};
		const abort = () => {
			settle();
			reject(signal.reason);
			request.abort();
		};
		const settle = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', abort);
		};
		const lost = () => {
			settle();
			reject(new UploadNetworkFailure());
		};
		request.open(method, url);
		for (const [name, value] of Object.entries({ accept: 'application/json', ...headers })) {
			request.setRequestHeader(name, value);
		}
		request.upload.onprogress = ({ loaded, total }) => {
			waitAtMost(stalledMilliseconds);
			onProgress?.(loaded, total);
		};
		request.upload.onload = () => waitAtMost(answerMilliseconds[method]);
		request.onload = () => {
			settle();
			resolve({
				status: request.status,
				header: (name) => request.getResponseHeader(name),
				body: parseJson(request.responseText),
			});
		};
		request.onerror = lost;
		request.onabort = lost;
		signal.addEventListener('abort', abort);
		waitAtMost(body === undefined ? answerMilliseconds[method] : stalledMilliseconds);
		request.send(body);
	});

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
