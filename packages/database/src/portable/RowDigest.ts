import { createHash } from 'node:crypto';
import type { Row } from './Row.js';

/** A digest of the rows of a table, independent of their order and of the kind of database. */
export class RowDigest {
	#count = 0;
	#sum = 0n;

	add(row: Row): void {
		const text = JSON.stringify(
			Object.keys(row)
				.sort()
				.map((name) => [name, row[name]]),
		);
		this.#count++;
		this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`));
	}

	get count(): number {
		return this.#count;
	}

	get digest(): string {
		return this.#sum.toString(16).padStart(64, '0');
	}
}
