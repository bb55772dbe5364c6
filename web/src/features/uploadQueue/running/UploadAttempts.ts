import { addTo } from '@stowage/rules';
import { newIdempotencyKey } from '../../../api/client/idempotency.js';
import type { Upload } from '../../../api/uploads/upload.js';

/** The attempts to upload the items of a queue: their idempotency keys, and which of them may have left something on the server. */
export class UploadAttempts {
	readonly #keys = new Map<number, Map<string, string>>();
	readonly #begun = new Map<number, Upload[]>();

	/**
	 * The idempotency key of an item: the same for each retry, another one for another name, place or sender, and what else the server is
	 * told.
	 */
	keyOf(id: number, upload: Omit<Upload, 'key'>): string {
		const { username, area, directory, fileName, onConflict, sender } = upload;
		const place = JSON.stringify([username, area, directory, fileName, onConflict, sender]);
		const keys = this.#keys.get(id) ?? new Map<string, string>();
		const key = keys.get(place) ?? newIdempotencyKey();
		this.#keys.set(id, keys.set(place, key));
		return key;
	}

	remove(id: number): void {
		this.#keys.delete(id);
	}

	/** The attempt's own upload is kept: by what it was sent with the server's part of it is found, whatever becomes of the item. */
	begin(id: number, upload: Upload): void {
		addTo(this.#begun, id, upload);
	}

	/** The uploads of an item that may have left something on the server. They are forgotten. */
	takeBegun(id: number): readonly Upload[] {
		const begun = this.#begun.get(id) ?? [];
		this.#begun.delete(id);
		return begun;
	}
}
