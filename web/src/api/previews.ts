import { viewerLink } from '@stowage/contract';
import { type Area, type Entry, Failure } from '@stowage/rules';
import { call, failureFrom, NetworkFailure } from './client/client.js';
import { isTransient } from './client/retries.js';

/** The server answered with an error; the message is `HTTP {status}`, as viewers show it. */
export class HttpFailure extends Failure {
	constructor(
		/** The status of the answer. */
		readonly answered: number,
		/** What the server said, for notices. */
		readonly explained: Failure,
	) {
		super('unavailable', `HTTP ${answered}`);
	}
}

/** Whether a file that could not be read may be read later: nothing was said about itself. */
export function mayBeReadLater(error: Error): boolean {
	return isTransient(error instanceof HttpFailure ? error.explained : error);
}

export interface FilePart {
	bytes: Uint8Array<ArrayBuffer>;
	/** The size of the whole file. */
	size: number;
}

/** Some bytes of a file, from `start` up to but without `end`; fewer if the file ends before. */
export async function readPart(url: string, start: number, end: number, signal?: AbortSignal): Promise<FilePart> {
	const response = await fetchBytes(url, { range: `bytes=${start}-${end - 1}` }, signal);
	// The file has become shorter, or a proxy says so of an empty one.
	if (response.status === 416) {
		const size = Number(/\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0);
		return { bytes: new Uint8Array(), size };
	}
	if (response.status === 206) {
		const bytes = await bodyOf(response, end - start, signal);
		const size = Number(/\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1] ?? start + bytes.length);
		return { bytes, size };
	}
	// An empty file is answered whole, and a proxy without range support sends all of any.
	const bytes = await bodyOf(response, end, signal);
	const length = Number(response.headers.get('content-length') ?? bytes.length);
	return { bytes: bytes.slice(start, end), size: length };
}

/** A whole file. Throws `tooLarge` as soon as more than `limit` bytes have arrived. */
export async function readWhole(url: string, limit: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
	const bytes = await bodyOf(await fetchBytes(url, {}, signal), limit + 1, signal);
	if (bytes.length > limit) throw new Failure('tooLarge', 'The file is too large to be shown.');
	return bytes;
}

export interface FileVersion {
	bytes: Uint8Array<ArrayBuffer>;
	/** The ETag of exactly these bytes. */
	etag: string;
}

/** A whole file as it is now. Throws as `readWhole` does. */
export async function readCurrent(url: string, limit: number): Promise<FileVersion> {
	// Past the cache: a browser may put together parts of what it has read before with parts of what is there now.
	const response = await fetchBytes(url, {}, undefined, 'no-store');
	const bytes = await bodyOf(response, limit + 1);
	if (bytes.length > limit) throw new Failure('tooLarge', 'The file is too large to be shown.');
	const length = response.headers.get('content-length');
	const isWhole = length === null || response.headers.has('content-encoding') || Number(length) === bytes.length;
	if (response.status !== 200 || !isWhole) throw new NetworkFailure();
	// A proxy that compresses the answer makes it a weak one.
	return { bytes, etag: (response.headers.get('etag') ?? '').replace(/^W\//, '') };
}

async function fetchBytes(
	url: string,
	headers: Record<string, string>,
	signal?: AbortSignal,
	cache: RequestCache = 'default',
): Promise<Response> {
	let response: Response;
	try {
		response = await fetch(url, { credentials: 'same-origin', cache, headers, ...(signal ? { signal } : {}) });
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new NetworkFailure(cause);
	}
	if (response.ok || response.status === 416) return response;
	throw new HttpFailure(response.status, failureFrom(response.status, await errorBody(response, signal), null));
}

/** Longer answers are none of our server. */
const maxErrorBytes = 16_384;

/** The JSON of an error; undefined where there is none. */
async function errorBody(response: Response, signal?: AbortSignal): Promise<unknown> {
	try {
		return JSON.parse(new TextDecoder().decode(await bodyOf(response, maxErrorBytes, signal)));
	} catch (cause) {
		if (signal?.aborted) throw cause;
		return undefined;
	}
}

/** The body, of which no more than `limit` bytes are taken. */
async function bodyOf(response: Response, limit: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
	const reader = response.body?.getReader();
	if (!reader) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	try {
		while (length < limit) {
			const { done, value } = await reader.read();
			if (done) break;
			chunks.push(value);
			length += value.length;
		}
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new NetworkFailure(cause);
	} finally {
		// A body that was read completely can't be cancelled, and need not be.
		reader.cancel().catch(() => {});
	}
	const bytes = new Uint8Array(Math.min(length, limit));
	let at = 0;
	for (const chunk of chunks) {
		const part = chunk.subarray(0, bytes.length - at);
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}

/** An address at which an external viewer fetches a document, for a while. */
export function createViewerLink(area: Area, { path, owner }: Pick<Entry, 'path' | 'owner'>): Promise<string> {
	const payload = { path, type: area, ...(owner === undefined ? {} : { owner }) };
	return call(viewerLink, { payload }).then(({ url }) => url);
}
