import { createHash, type Hash } from 'node:crypto';
import { Failure } from '@stowage/rules';
import { trimBlanks } from '../http/requests/trimBlanks.js';

/** Checksums that a chunk may have, the better one first. */
export const checksumAlgorithms = ['sha256', 'sha1'] as const;

/** The expected checksum of a chunk or a whole file. */
export class Checksum {
	readonly #hash: Hash;

	constructor(
		algorithm: (typeof checksumAlgorithms)[number],
		readonly expected: Buffer,
		private readonly what: 'chunk' | 'file',
	) {
		this.#hash = createHash(algorithm);
	}

	add(chunk: Uint8Array): void {
		this.#hash.update(chunk);
	}

	/** Passes the bytes on, and adds them as they are read. */
	async *through(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		for await (const chunk of body) {
			this.add(chunk);
			yield chunk;
		}
	}

	/** Throws `checksumMismatch`. Called once, after the last byte. */
	assertMatch(): void {
		if (this.#hash.digest().equals(this.expected)) return;
		throw new Failure('checksumMismatch', `The ${this.what} arrived damaged. Please send it again.`);
	}
}

/** Parses `Upload-Checksum`, if present. Throws `invalid` for a checksum that is not supported. */
export function parseChecksum(header: string | undefined): Checksum | undefined {
	if (header === undefined) return undefined;
	const [name, value = '', ...more] = trimBlanks(header).split(' ');
	const algorithm = checksumAlgorithms.find((known) => known === name);
	if (algorithm === undefined) {
		throw new Failure('invalid', `Upload-Checksum: must be one of ${checksumAlgorithms.join(', ')}`);
	}
	const expected = Buffer.from(value, 'base64');
	if (more.length > 0 || expected.length !== createHash(algorithm).digest().length) {
		throw new Failure('invalid', `Upload-Checksum: must be a ${algorithm} in base64`);
	}
	return new Checksum(algorithm, expected, 'chunk');
}

/** Parses `Stowage-File-Digest`, if present. Throws `invalid` for anything but one SHA-256. */
export function parseFileDigest(header: string | undefined): Checksum | undefined {
	if (header === undefined) return undefined;
	const value = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(trimBlanks(header))?.[1];
	if (value === undefined) {
		throw new Failure(
			'invalid',
			'Stowage-File-Digest: must be sha-256=:…: with a SHA-256 in base64 between the colons',
		);
	}
	return new Checksum('sha256', Buffer.from(value, 'base64'), 'file');
}
