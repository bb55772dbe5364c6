import { newUploadKey, type Upload } from '../../../api/uploads/upload.js';

/** The idempotency keys of the uploads: the same for each retry, a new one for another name or place. And which were begun. */
export class UploadKeys {
	readonly #keys = new Map<number, { place: string; key: string }>();
	readonly #begun = new Map<number, Upload[]>();

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
