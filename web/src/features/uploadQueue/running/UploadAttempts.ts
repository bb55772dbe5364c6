import { newUploadKey, type Upload } from '../../../api/uploads/upload.js';

/** The attempts to upload the items of a queue: their idempotency keys, and which of them may have left something on the server. */
export class UploadAttempts {
	readonly #keys = new Map<number, { place: string; key: string }>();
	readonly #begun = new Map<number, Upload[]>();

	/** The idempotency key of an item: the same for each retry, a new one for another name or place. */
	keyOf(id: number, place: string): string {
		const last = this.#keys.get(id);
		if (last?.place === place) return last.key;
		const key = newUploadKey();
		this.#keys.set(id, { place, key });
		return key;
	}

	remove(id: number): void {
		this.#keys.delete(id);
	}

	/** The attempt's own upload is kept: by what it was sent with the server's part of it is found, whatever becomes of the item. */
	begin(id: number, upload: Upload): void {
		this.#begun.set(id, [...(this.#begun.get(id) ?? []), upload]);
	}

	/** The uploads of an item that may have left something on the server. They are forgotten. */
	takeBegun(id: number): readonly Upload[] {
		const begun = this.#begun.get(id) ?? [];
		this.#begun.delete(id);
		return begun;
	}
}
