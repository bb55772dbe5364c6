import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { idempotencyKey } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { trimBlanks } from '../http/requests/trimBlanks.js';

/** The media type of a chunk. */
const chunkType = 'application/offset+octet-stream';

/** Parses a number of bytes from a header. Throws `invalid` if it is missing or no whole number. */
export function byteCount(headers: IncomingHttpHeaders, name: string): number {
	const given = textHeader(headers, name);
	if (given === undefined) throw new Failure('invalid', `${name}: is missing`);
	const text = trimBlanks(given);
	const bytes = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
	if (!Number.isSafeInteger(bytes)) throw new Failure('invalid', `${name}: must be a whole number of bytes`);
	return bytes;
}

export function textHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
	const value = headers[name.toLowerCase()];
	return Array.isArray(value) ? value.join(',') : value;
}

/** Whether a body was announced, be it empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
	return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

/** Bytes of the body as announced; 0 where its length is left open. */
export function announcedBytes({ headers }: IncomingMessage): number {
	return Number(headers['content-length'] ?? 0);
}

/** Throws `tooLarge` if more bytes are announced than allowed. */
export function assertAnnounced(request: IncomingMessage, limit: number): void {
	if (announcedBytes(request) > limit)
		throw new Failure('tooLarge', 'More bytes are announced than the upload was said to have.');
}

/** Throws `unsupportedMediaType` for a body that is not a chunk of a file. */
export function assertChunkType({ headers }: IncomingMessage): void {
	if (trimBlanks(headers['content-type'] ?? '').toLowerCase() !== chunkType) {
		throw new Failure('unsupportedMediaType', `Send the bytes as ${chunkType}.`);
	}
}

export const uploadKeyOf = (headers: IncomingHttpHeaders) => idempotencyKey(headers, 'Stowage-Upload-Key');
