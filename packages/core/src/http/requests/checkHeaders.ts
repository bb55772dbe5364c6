import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '@stowage/rules';
import { trimBlanks } from './trimBlanks.js';

/** Lines of headers that a request may have. Node drops those behind its own limit, and says nothing of it. */
export const maxHeaders = 1000;

/** Refuses a request by headers that two readers could take in different ways, or that nothing here can fulfil. */
export function checkHeaders(request: IncomingMessage, response: ServerResponse): void {
	assertHost(request, response);
	assertLength(request);
	assertPlainBody(request);
	collapseBlanks(request);
}

/**
 * Whether lines may have been dropped. A proxy that sorts them, or adds to them, has its own behind those of the client, which could so
 * hide the address that it comes from, or name another one: no forwarded header of such a request is believed.
 */
export function lacksHeaders({ rawHeaders }: IncomingMessage): boolean {
	return rawHeaders.length > 2 * maxHeaders;
}

/**
 * Throws `invalid` for a request that names no host, or several: two readers could take it for different ones. HTTP/1.0 knows no hosts.
 */
function assertHost(request: IncomingMessage, response: ServerResponse): void {
	const hosts = request.headersDistinct.host?.length ?? 0;
	if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return;
	response.setHeader('connection', 'close');
	throw new Failure('invalid', 'The request must have one Host header.');
}

/** hapi would wait for a body that it finds too long. */
function assertLength({ headers }: IncomingMessage): void {
	if (Number(headers['content-length'] ?? 0) > Number.MAX_SAFE_INTEGER)
		throw new Failure('tooLarge', 'The request is longer than any file can be.');
}

/**
 * Throws for a body in another coding than that of its file: nothing undoes it, and what arrives would be kept as the
 * file's content. Node passes on any coding that is named before `chunked`.
 */
function assertPlainBody({ headers }: IncomingMessage): void {
	const coding = trimBlanks(headers['content-encoding'] ?? '').toLowerCase() || 'identity';
	if (coding !== 'identity') throw new Failure('unsupportedMediaType', 'Send the request without a Content-Encoding.');
	const transfer = trimBlanks(headers['transfer-encoding'] ?? 'chunked').toLowerCase();
	if (transfer !== 'chunked')
		throw new Failure('invalid', 'The only Transfer-Encoding that a request may have is chunked.');
}

/**
 * Makes one space of each run of blanks in `If-None-Match`, which hapi, too, reads as it sends a response with an ETag:
 * it splits the list by a pattern whose time grows with the square of a run (30 kB: more than a second, in which the
 * server answers nobody).
 */
function collapseBlanks({ headers }: IncomingMessage): void {
	const list = headers['if-none-match'];
	if (list !== undefined) headers['if-none-match'] = list.replace(/\s+/g, ' ');
}
