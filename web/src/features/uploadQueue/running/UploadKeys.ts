import { newUploadKey } from '../../../api/uploads/upload.js';

/** The idempotency keys of the uploads: the same for each retry, a new one for another name or place. */
export class UploadKeys {
	readonly #keys = new Map<number, { place: string; key: string }>();

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
}
