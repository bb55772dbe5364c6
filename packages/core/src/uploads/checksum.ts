import { createHash, type Hash } from 'node:crypto';
import { Failure } from '@stowage/rules';

/** Checksums that a piece may carry, the better one first. */
export const checksumAlgorithms = ['sha256', 'sha1'] as const;

/** What a piece must add up to. */
export class Checksum {
	readonly #hash: Hash;

	constructor(
		algorithm: (typeof checksumAlgorithms)[number],
		readonly expected: Buffer,
	) {
		this.#hash = createHash(algorithm);
	}

	add(chunk: Uint8Array): void {
		this.#hash.update(chunk);
	}

	/** Throws `checksumMismatch`. Called once, after the last byte. */
	demandMatch(): void {
		if (this.#hash.digest().equals(this.expected)) return;
		throw new Failure('checksumMismatch', 'The piece arrived damaged. Please send it again.');
	}
}

/** Reads `Upload-Checksum`, if there is one. Throws `invalid` for what can't be checked. */
export function parseChecksum(header: string | undefined): Checksum | undefined {
	if (header === undefined) return undefined;
	const [name, value = '', ...more] = header.trim().split(' ');
	const algorithm = checksumAlgorithms.find((known) => known === name);
	if (algorithm === undefined) {
		throw new Failure('invalid', `Upload-Checksum: must be one of ${checksumAlgorithms.join(', ')}`);
	}
	const expected = Buffer.from(value, 'base64');
	if (more.length > 0 || expected.length !== createHash(algorithm).digest().length) {
		throw new Failure('invalid', `Upload-Checksum: must be a ${algorithm} in base64`);
	}
	return new Checksum(algorithm, expected);
}
