import { newUploadKey } from '../../../api/uploads/uploads.js';

/** The keys by which the server knows a try again: new ones for another name or place. */
export class UploadKeys {
	readonly #keys = new Map<number, { place: string; key: string }>();

	keyOf(id: number, place: string): string {
		const known = this.#keys.get(id);
		if (known?.place === place) return known.key;
		const key = newUploadKey();
		this.#keys.set(id, { place, key });
		return key;
	}

	forget(id: number): void {
		this.#keys.delete(id);
	}
}
