import { UploadNetworkFailure } from './uploadFailures.js';
import type { SendUpload } from './uploadRequest.js';

/** A connection without progress for this long counts as lost, as after a change of network. */
const stallTimeoutMs = 45_000;
/** How long the server may take to respond. Syncing a large file to a slow disk may take minutes. */
const responseTimeoutMs = { POST: 300_000, PATCH: 300_000, HEAD: 30_000, DELETE: 30_000 } as const;

/**
 * Sends one request and returns the response, whatever its status. Throws `UploadNetworkFailure` when there is none. It uses
 * XMLHttpRequest, since fetch reports no upload progress.
 */
export const sendUpload: SendUpload = ({ method, url, headers, body, onProgress, signal }) =>
	new Promise((resolve, reject) => {
		if (signal.aborted) return reject(signal.reason);
		const request = new XMLHttpRequest();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const setTimeLimit = (milliseconds: number) => {
			clearTimeout(timer);
			timer = setTimeout(() => {
				fail();
				request.abort();
			}, milliseconds);
		};
		const abort = () => {
			cleanUp();
			reject(signal.reason);
			request.abort();
		};
		const cleanUp = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', abort);
		};
		const fail = () => {
			cleanUp();
			reject(new UploadNetworkFailure());
		};
		request.open(method, url);
		for (const [name, value] of Object.entries({ accept: 'application/json', ...headers })) {
			request.setRequestHeader(name, value);
		}
		request.upload.onprogress = ({ loaded, total }) => {
			setTimeLimit(stallTimeoutMs);
			onProgress?.(loaded, total);
		};
		request.upload.onload = () => setTimeLimit(responseTimeoutMs[method]);
		request.onload = () => {
			cleanUp();
			resolve({
				status: request.status,
				header: (name) => request.getResponseHeader(name),
				body: parseJson(request.responseText),
			});
		};
		request.onerror = fail;
		request.onabort = fail;
		signal.addEventListener('abort', abort);
		setTimeLimit(body === undefined ? responseTimeoutMs[method] : stallTimeoutMs);
		request.send(body);
	});

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// A proxy's error page, for example: only the status is usable.
		return undefined;
	}
}
